// The sign-in form that takes password and second factor at once, and the page that offers it.
import type { FastifyReply } from 'fastify';
import { momentsIn } from '../../lib/moments.ts';
import { phrase } from '../../lib/phrases.ts';
import { SECOND_MS } from '../../lib/time.ts';
import { note } from '../../web/request-log.ts';
import type { Administrator } from '../administrator.ts';
import { passkeyPlace } from '../passkey.ts';
import { newChallenge, type StrongFactor, signInAtOnce, type Whole } from '../sign-in-at-once.ts';
import type { Shown } from './route.ts';
import { type CarriedDraft, passkeyOptions, type SignInParts, signInPage } from './sign-in-page.ts';
import { callerOf, enter } from './signed-in.ts';
import { show, type Visit } from './visit.ts';

const WRONG_WHOLE = phrase('Email address, password, or recovery code or passkey is not right');

/** The longest of what is read of a field; nothing longer can be right. */
export const FIELD_MAXIMUM = 1024;
export const read = (form: URLSearchParams, name: string) => (form.get(name) ?? '').slice(0, FIELD_MAXIMUM);

/** The second factor that came along with the password, if any. */
export function strongFactorIn({ place }: Visit, form: URLSearchParams): StrongFactor | undefined {
  const credential = form.get('credential') ?? '';
  const passkeys = passkeyPlace(place.baseUrl);
  if (credential !== '' && passkeys)
    return { response: parsed(credential), expires: Number(read(form, 'expires')), place: passkeys };
  const recoveryCode = read(form, 'recovery-code').trim();
  return recoveryCode === '' ? undefined : { recoveryCode };
}

/** Both steps in one. */
export async function takeWhole(visit: Visit, whole: Whole, carried: CarriedDraft): Promise<FastifyReply> {
  const done = await signInAtOnce(visit.place, whole, visit.request.id, callerOf(visit));
  if (!('refused' in done)) return enter(visit, done, carried);
  const { email } = whole;
  const { administrator } = done;
  noteRefusal(visit, done);
  if (done.refused === 'throttled') return tooMany(visit, { carried, email }, administrator, done.until);
  const wrong = visit.tongue.say.of(WRONG_WHOLE);
  const faults = { email: wrong, password: wrong, 'recovery-code': wrong };
  return show(visit, wholePage(visit, { carried, email, faults }, administrator));
}

/** Logs why a sign-in was refused, and for which account, if there is one. */
export function noteRefusal(
  { request }: Visit,
  {
    refused,
    administrator,
  }: { refused: 'wrong' | 'throttled' | 'expired'; administrator?: Administrator | undefined },
  wrong: 'wrong_password' | 'wrong_factor' = 'wrong_password',
): void {
  if (administrator) note(request, { administrator: administrator.id });
  if (refused === 'throttled')
    note(request, { sign_in: 'must_wait', code: 'rate_limited', limit: 'sign_in_failures' });
  else note(request, { sign_in: refused === 'wrong' ? wrong : 'expired' });
}

/** The sign-in page that takes the second factor as well. `administrator`: the owner of the address in `parts`, or undefined. */
export function wholePage(visit: Visit, parts: SignInParts, administrator: Administrator | undefined): Shown {
  const { place } = visit;
  const challenge = newChallenge(place.ring, parts.email ?? '', administrator, visit.now);
  return signInPage(visit, {
    ...parts,
    whole: { expires: challenge.expires, options: passkeyOptions(place.baseUrl, challenge.challenge) },
  });
}

/** Too many failures with one e-mail address, known or not. */
export function tooMany(
  visit: Visit,
  parts: { carried: CarriedDraft; email: string },
  administrator: Administrator | undefined,
  until: number,
): FastifyReply | Promise<FastifyReply> {
  const { place, reply, now } = visit;
  reply.header('retry-after', String(Math.max(1, Math.ceil((until - now) / SECOND_MS))));
  const { say } = visit.tongue;
  const faults = { email: say`Too many attempts. Try again at ${timeOfDay(place.timeZone, until)}` };
  return show(visit, wholePage(visit, { ...parts, faults, status: 429 }, administrator));
}

/** A time rounded up to the minute, so that a client that waits until then is let in. */
export function timeOfDay(timeZone: string, ms: number): string {
  const minute = Math.ceil(ms / (60 * SECOND_MS)) * 60 * SECOND_MS;
  return momentsIn(timeZone).clock(minute);
}

/** What a browser sent of a passkey; `null`, which is no passkey, where it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
