// Signing in and out: what the form does, before there is a session and when it ends.
import { momentsIn } from '../../lib/moments.ts';
import { phrase } from '../../lib/phrases.ts';
import { jsonOr } from '../../lib/text.ts';
import { SECOND_MS } from '../../lib/time.ts';
import { wholeSeconds } from '../../web/rate-limit.ts';
import { note } from '../../web/request-log.ts';
import { passkeyPlace } from '../passkey.ts';
import { endSession } from '../session.ts';
import { type GivenFactor, type SignInRefusal, signIn } from '../sign-in.ts';
import { setCookie } from './cookies.ts';
import type { Context, Outcome, Shown, Visit } from './route.ts';
import { carriedIn, signInPage } from './sign-in-page.ts';
import { callerOf, enter } from './signed-in.ts';

const WRONG = phrase('Email address, password, code or passkey is wrong');

/** The longest of what is read of a field; nothing longer can be right. */
const FIELD_MAXIMUM = 1024;
const read = (form: URLSearchParams, name: string) => (form.get(name) ?? '').slice(0, FIELD_MAXIMUM);

/** GET /sign-in. */
export function showSignIn(visit: Visit): Outcome {
  const { query, principal, path, say } = visit;
  const { next } = carriedIn(query);
  if (principal) return { to: path + (next ?? '') };
  const told = query.has('out') ? say`You are signed out.` : undefined;
  return signInPage(visit, { carried: { next, draft: undefined }, told });
}

/** The second factor in a form, if there is one: a passkey, else the code of an app, else a recovery code, in either field. */
export function factorIn({ baseUrl, form }: Visit): GivenFactor | undefined {
  const credential = form.get('credential') ?? '';
  const passkeys = passkeyPlace(baseUrl);
  if (credential !== '' && passkeys)
    return { response: jsonOr(credential), expires: Number(read(form, 'expires')), place: passkeys };
  const code = read(form, 'code').trim();
  const recoveryCode = read(form, 'recovery-code').trim();
  if (/^[\p{Nd}\s]{6,12}$/u.test(code)) return { code };
  const typed = code || recoveryCode;
  return typed === '' ? undefined : { recoveryCode: typed };
}

/** POST /sign-in. */
export async function takeSignIn(visit: Visit): Promise<Outcome> {
  const { form, request, say } = visit;
  const carried = carriedIn(form);
  const email = read(form, 'email');
  const password = read(form, 'password');
  const factor = factorIn(visit);
  const empty = {
    ...(email.trim() === '' ? { email: say`Enter your email address` } : {}),
    ...(password === '' ? { password: say`Enter your password` } : {}),
    ...(factor ? {} : { code: say`Enter a code, or use your passkey` }),
  };
  if (!factor || Object.keys(empty).length > 0) return signInPage(visit, { carried, email, faults: empty });
  const done = await signIn(visit, { email, password, factor }, request.id, callerOf(visit));
  if (!('refused' in done)) return enter(visit, done, carried);
  noteRefusal(visit, done);
  if (done.refused === 'throttled') return tooMany(visit, done.until);
  const field = read(form, 'code').trim() === '' ? 'recovery-code' : 'code';
  const wrong = say.of(WRONG);
  const faults = { email: wrong, password: wrong, ...(!('response' in factor) && { [field]: wrong }) };
  return signInPage(visit, { carried, email, faults });
}

function noteRefusal({ request }: Visit, refusal: SignInRefusal): void {
  if (refusal.administrator) note(request, { administrator: refusal.administrator.id });
  if (refusal.refused === 'throttled')
    note(request, { sign_in: 'must_wait', code: 'rate_limited', limit: 'sign_in_failures' });
  else note(request, { sign_in: refusal.proof === 'password' ? 'wrong_password' : 'wrong_factor' });
}

/** Too many failures with one e-mail address, known or not, or too many forms, until a moment. */
export function tooMany(visit: Visit, until: number): Shown {
  const { form, now, timeZone, say } = visit;
  const headers = { 'retry-after': String(Math.max(1, wholeSeconds(until - now))) };
  const faults = { email: say`Too many attempts. Try again at ${timeOfDay(timeZone, until)}` };
  const told = say`You need not wait: sign in with a recovery code, or with your passkey.`;
  const shown = { carried: carriedIn(form), email: read(form, 'email'), faults, status: 429, told };
  return { ...signInPage(visit, shown), headers };
}

/** A time rounded up to the minute, so that a client that waits until then is let in. */
export function timeOfDay(timeZone: string, ms: number): string {
  const minute = Math.ceil(ms / (60 * SECOND_MS)) * 60 * SECOND_MS;
  return momentsIn(timeZone).clock(minute);
}

/** POST /sign-out. */
export async function signOut(context: Context): Promise<Outcome> {
  const { journal, principal, address, baseUrl } = context;
  await journal.commit((transaction) => endSession(transaction, principal), principal.session!);
  return {
    to: address('/sign-in', { out: '1' }),
    headers: {
      // Not "cookies": that would take the device's too, and those of every other host under the same domain.
      'set-cookie': setCookie('session', undefined, baseUrl),
      'clear-site-data': '"cache", "storage"',
    },
  };
}
