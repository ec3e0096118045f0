// Signing in and out: what the forms of both steps do, before there is a session and when it ends.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { claimedOwner, knownDevice, newDevice } from '../administrators/device.ts';
import { passkeyPlace } from '../administrators/passkey.ts';
import { findAdministrator } from '../administrators/queries.ts';
import { cookieValue, endSession } from '../administrators/session.ts';
import {
  type Caller,
  checkPassword,
  completeWithCode,
  completeWithPasskey,
  type FactorRefusal,
  openTicket,
  type SignedIn,
} from '../administrators/sign-in.ts';
import { site } from '../http/network.ts';
import { SECOND_MS } from '../lib/time.ts';
import { readCookieOf, setCookie } from './cookies.ts';
import { showPackedDraft } from './guard.ts';
import type { Faults } from './parts.ts';
import type { Route, Shown } from './route.ts';
import { type Carried, carriedIn, factorPage, signInPage } from './sign-in-page.ts';
import { type Place, seeOther, show, type Visit } from './visit.ts';

const WRONG_PAIR = 'Email address or password is not right';
const WRONG_FACTOR = 'This code is not right, or was used before. Enter the one that is shown now';
const WRONG_PASSKEY = 'Your passkey was not accepted. Try again, or use a code';
const WRONG_RECOVERY_CODE = 'This recovery code is not right, or was used before';
const NO_CODE = 'Enter a code';
const EXPIRED = 'That took too long, or your account was changed meanwhile. Sign in again.';

/** The longest of what is read of a field; nothing longer can be right. */
const FIELD_MAXIMUM = 1024;
const read = (form: URLSearchParams, name: string) => (form.get(name) ?? '').slice(0, FIELD_MAXIMUM);

/** What this browser brings along. */
function callerOf({ request, place }: Visit): Caller {
  const { cookie } = request.headers;
  return {
    network: site(request.ip),
    device: readCookieOf(cookie, 'device', place.baseUrl),
    session: readCookieOf(cookie, 'session', place.baseUrl),
  };
}

/** What tells the browser of a request from others, where somebody has signed in with it. Raises `DatabaseError`. */
export async function deviceOf(
  { database, clock, baseUrl }: Place,
  { headers }: FastifyRequest,
): Promise<string | undefined> {
  const cookie = readCookieOf(headers.cookie, 'device', baseUrl);
  const owner = claimedOwner(cookie);
  const administrator = owner === undefined ? undefined : await findAdministrator(database, owner);
  return administrator && knownDevice(administrator, cookie, clock.now());
}

/** The cookies of a browser with which somebody has just proved who they are. */
export function signedInCookies(
  { secret, session, administrator }: SignedIn,
  baseUrl: string,
  now: number,
): string[] {
  return [
    setCookie('session', cookieValue(secret, session, now), baseUrl),
    setCookie('device', newDevice(administrator, now), baseUrl),
  ];
}

/** GET /sign-in. */
export function showSignIn(visit: Visit): FastifyReply | Promise<FastifyReply> {
  const { query, principal, place } = visit;
  const { next } = carriedIn(query);
  if (principal) return seeOther(visit, place.path + (next ?? ''));
  const told = query.has('out') ? 'You are signed out.' : undefined;
  return show(visit, signInPage(visit, { carried: { next, draft: undefined }, told }));
}

/** POST /sign-in: the first step. */
export async function takePassword(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { place, request } = visit;
  const carried = carriedIn(form);
  const email = read(form, 'email');
  const password = form.get('password') ?? '';
  const again = (faults: Faults) => show(visit, signInPage(visit, { carried, email, faults }));
  const empty = {
    ...(email.trim() === '' ? { email: 'Enter your email address' } : {}),
    ...(password === '' ? { password: 'Enter your password' } : {}),
  };
  if (Object.keys(empty).length > 0) return again(empty);
  const checked = await checkPassword(
    place,
    email,
    password.slice(0, FIELD_MAXIMUM),
    request.id,
    callerOf(visit),
  );
  if ('refused' in checked) {
    if (checked.refused === 'throttled') return tooMany(visit, carried, email, checked.until);
    return again({ email: WRONG_PAIR, password: WRONG_PAIR });
  }
  return askFactor(visit, carried, checked.ticket);
}

/** The page of the second step, for a ticket that was just made. */
async function askFactor(
  visit: Visit,
  carried: Carried,
  ticket: string,
  faults: Faults = {},
): Promise<FastifyReply> {
  const { place, now } = visit;
  const opened = await openTicket(place.database, ticket, now);
  if (!opened) return beginAgain(visit, carried);
  // Without an app there is no field for its code: what is wrong is told at the one there is.
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

/** POST /sign-in/factor: the second step. `routes` is where a form is shown again that was carried along. */
export async function takeFactor(
  visit: Visit,
  form: URLSearchParams,
  routes: readonly Route[],
): Promise<FastifyReply> {
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
  else if (code === '' && recoveryCode === '') return askFactor(visit, carried, ticket, { code: NO_CODE });
  else
    done = await completeWithCode(place, ticket, field === 'code' ? code : recoveryCode, request.id, caller);
  if (!('refused' in done)) return enter(visit, done, carried, routes);
  if (done.refused === 'throttled') return tooMany(visit, carried, '', done.until);
  if (done.refused === 'expired') return beginAgain(visit, carried);
  const fault = credential !== '' ? WRONG_PASSKEY : field === 'code' ? WRONG_FACTOR : WRONG_RECOVERY_CODE;
  return askFactor(visit, carried, done.ticket, { [field]: fault });
}

/** Lets somebody in, with a new session's cookie, and leads to where they were going. */
async function enter(
  visit: Visit,
  signedIn: SignedIn,
  { next, draft }: Carried,
  routes: readonly Route[],
): Promise<FastifyReply> {
  const { place, reply, now } = visit;
  const { secret, administrator, session } = signedIn;
  reply.header('set-cookie', signedInCookies(signedIn, place.baseUrl, now));
  if (next === undefined || draft === undefined) return seeOther(visit, place.path + (next ?? ''));
  const { id, name, email, role } = administrator;
  const principal = { id, name, email, role, actor: `administrator:${id}`, session: session.id, token: null };
  const entered: Visit = { ...visit, principal, formKey: { kind: 'session', secret } };
  return showPackedDraft(entered, routes, next, draft);
}

function beginAgain(visit: Visit, carried: Carried): Promise<FastifyReply> {
  return show(visit, signInPage(visit, { carried, told: EXPIRED, status: 403 }));
}

/** Too many failures with one e-mail address, known or not. */
function tooMany(visit: Visit, carried: Carried, email: string, until: number): Promise<FastifyReply> {
  const { place, reply, now } = visit;
  reply.header('retry-after', String(Math.max(1, Math.ceil((until - now) / SECOND_MS))));
  const faults = { email: `Too many attempts. Try again at ${timeOfDay(place.timeZone, until)}` };
  const page: Shown = signInPage(visit, { carried, email, faults, status: 429 });
  return show(visit, page);
}

/** A moment as the minute after it, so that whoever waits until then is let in. */
export function timeOfDay(timeZone: string, ms: number): string {
  const minute = Math.ceil(ms / (60 * SECOND_MS)) * 60 * SECOND_MS;
  const format = { hour: '2-digit', minute: '2-digit', timeZone, timeZoneName: 'short' } as const;
  return new Intl.DateTimeFormat('en-GB', { ...format, hourCycle: 'h23' }).format(minute);
}

/** What a browser sent of a passkey; `null`, which is no passkey, where it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const signOutRoutes: Route[] = [
  {
    method: 'POST',
    path: '/sign-out',
    permission: 'read',
    page: '/',
    async answer({ journal, principal, request, address, baseUrl }) {
      await journal.commit(
        (transaction) => endSession(transaction, principal, request.id),
        principal.session!,
      );
      return {
        to: address('/sign-in', { out: '1' }),
        headers: {
          // Not "cookies": that would take the device's too, and those of every other host under the same domain.
          'set-cookie': setCookie('session', undefined, baseUrl),
          'clear-site-data': '"cache", "storage"',
        },
      };
    },
  },
];
