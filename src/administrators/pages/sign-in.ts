// Signing in and out: what the forms of both steps do, before there is a session and when it ends.
import type { FastifyReply } from 'fastify';
import { phrase } from '../../lib/phrases.ts';
import { note } from '../../web/request-log.ts';
import { plainEmail } from '../failures.ts';
import { passkeyPlace } from '../passkey.ts';
import { findAdministratorByEmail } from '../queries.ts';
import { endSession } from '../session.ts';
import {
  checkPassword,
  completeWithCode,
  completeWithPasskey,
  type FactorRefusal,
  openTicket,
  type SignedIn,
} from '../sign-in.ts';
import { setCookie } from './cookies.ts';
import type { Faults } from './parts.ts';
import type { Context, Outcome } from './route.ts';
import { type CarriedDraft, carriedIn, factorPage, signInPage } from './sign-in-page.ts';
import {
  FIELD_MAXIMUM,
  noteRefusal,
  parsed,
  read,
  strongFactorIn,
  takeWhole,
  tooMany,
  wholePage,
} from './sign-in-whole.ts';
import { callerOf, enter } from './signed-in.ts';
import { seeOther, show, type Visit } from './visit.ts';

const WRONG_PAIR = phrase('Email address or password is not right');
const WRONG_FACTOR = phrase('This code is not right, or was used before. Enter the one that is shown now');
const WRONG_PASSKEY = phrase('Your passkey was not accepted. Try again, or use a code');
const WRONG_RECOVERY_CODE = phrase('This recovery code is not right, or was used before');
const NO_CODE = phrase('Enter a code');
const EXPIRED = phrase('That took too long, or your account was changed meanwhile. Sign in again.');

/** GET /sign-in. */
export function showSignIn(visit: Visit): FastifyReply | Promise<FastifyReply> {
  const { say } = visit.tongue;
  const { query, principal, place } = visit;
  const { next } = carriedIn(query);
  if (principal) return seeOther(visit, place.path + (next ?? ''));
  const told = query.has('out') ? say`You are signed out.` : undefined;
  return show(visit, signInPage(visit, { carried: { next, draft: undefined }, told }));
}

/** POST /sign-in: the first step, or both. */
export async function takePassword(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { say } = visit.tongue;
  const { place, request } = visit;
  const carried = carriedIn(form);
  const email = read(form, 'email');
  const password = form.get('password') ?? '';
  const again = (faults: Faults) => show(visit, signInPage(visit, { carried, email, faults }));
  const empty = {
    ...(email.trim() === '' ? { email: say`Enter your email address` } : {}),
    ...(password === '' ? { password: say`Enter your password` } : {}),
  };
  const factor = strongFactorIn(visit, form);
  if (Object.keys(empty).length > 0) {
    if (!factor) return again(empty);
    const owner = await findAdministratorByEmail(place.database, plainEmail(email));
    return show(visit, wholePage(visit, { carried, email, faults: empty }, owner));
  }
  if (factor) return takeWhole(visit, { email, password: password.slice(0, FIELD_MAXIMUM), factor }, carried);
  const checked = await checkPassword(
    place,
    email,
    password.slice(0, FIELD_MAXIMUM),
    request.id,
    callerOf(visit),
  );
  if ('refused' in checked) {
    noteRefusal(visit, checked);
    if (checked.refused === 'throttled')
      return tooMany(visit, { carried, email }, checked.administrator, checked.until);
    return again({ email: say.of(WRONG_PAIR), password: say.of(WRONG_PAIR) });
  }
  note(request, { sign_in: 'password_right', administrator: checked.administrator.id });
  return askFactor(visit, carried, checked.ticket);
}

/** The page of the second step, for a ticket that was just made. */
async function askFactor(
  visit: Visit,
  carried: CarriedDraft,
  ticket: string,
  faults: Faults = {},
): Promise<FastifyReply> {
  const { place, now } = visit;
  const opened = await openTicket(place, ticket, now);
  if (!opened) return beginAgain(visit, carried);
  // Without an app there is no field for its code, so the fault is shown at the field there is.
  const { code, ...others } = faults;
  const shown =
    code === undefined || opened.administrator.totp_secret !== null
      ? faults
      : { 'recovery-code': code, ...others };
  const parts = {
    carried,
    ticket,
    ...opened,
    passkeyPlace: passkeyPlace(place.baseUrl),
    faults: shown,
  };
  return show(visit, await factorPage(visit, parts));
}

/** POST /sign-in/factor: the second step. */
export async function takeFactor(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { say } = visit.tongue;
  const { place, request } = visit;
  const carried = carriedIn(form);
  const ticket = read(form, 'ticket');
  const code = read(form, 'code').trim();
  const recoveryCode = read(form, 'recovery-code').trim();
  const field = code === '' && recoveryCode !== '' ? 'recovery-code' : 'code';
  const credential = form.get('credential') ?? '';
  const passkeys = passkeyPlace(place.baseUrl);
  const caller = callerOf(visit);
  let done: SignedIn | FactorRefusal;
  if (credential !== '' && passkeys)
    done = await completeWithPasskey(place, ticket, parsed(credential), passkeys, request.id, caller);
  else if (code === '' && recoveryCode === '')
    return askFactor(visit, carried, ticket, { code: say.of(NO_CODE) });
  else
    done = await completeWithCode(place, ticket, field === 'code' ? code : recoveryCode, request.id, caller);
  if (!('refused' in done)) return enter(visit, done, carried);
  noteRefusal(visit, done, 'wrong_factor');
  if (done.refused === 'expired') return beginAgain(visit, carried);
  if (done.refused === 'throttled') {
    const { administrator, until } = done;
    return tooMany(visit, { carried, email: administrator.email }, administrator, until);
  }
  const fault =
    credential !== ''
      ? say.of(WRONG_PASSKEY)
      : field === 'code'
        ? say.of(WRONG_FACTOR)
        : say.of(WRONG_RECOVERY_CODE);
  return askFactor(visit, carried, done.ticket, { [field]: fault });
}

function beginAgain(visit: Visit, carried: CarriedDraft): Promise<FastifyReply> {
  const { say } = visit.tongue;
  return show(visit, signInPage(visit, { carried, told: say.of(EXPIRED), status: 403 }));
}

/** POST /sign-out. */
export async function signOut(context: Context): Promise<Outcome> {
  const { journal, principal, request, address, baseUrl } = context;
  await journal.commit((transaction) => endSession(transaction, principal, request.id), principal.session!);
  return {
    to: address('/sign-in', { out: '1' }),
    headers: {
      // Not "cookies": that would take the device's too, and those of every other host under the same domain.
      'set-cookie': setCookie('session', undefined, baseUrl),
      'clear-site-data': '"cache", "storage"',
    },
  };
}
