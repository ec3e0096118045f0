// What a browser brings to a sign-in and gets from it: cookies, and the address that it asked for before.
import type { FastifyRequest } from 'fastify';
import { SECOND_MS } from '../../lib/time.ts';
import { site } from '../../web/network.ts';
import { note } from '../../web/request-log.ts';
import { type Administrator, principalOf } from '../administrator.ts';
import { claimedOwner, DEVICE_MS, knownDevice, newDevice } from '../failures.ts';
import { findAdministrator } from '../queries.ts';
import { cookieValue, SESSION_IDLE_MS } from '../session.ts';
import type { SignedIn, SignInClient } from '../sign-in.ts';
import { cookieIn, setCookie } from './cookies.ts';
import { draftPage } from './guard.ts';
import type { ConsoleParts, Outcome, Visit } from './route.ts';
import { type CarriedDraft, unpackDraft } from './sign-in-page.ts';
import { signedIn } from './visit.ts';

/** What this browser brings along. */
export function callerOf({ request, baseUrl, say }: Visit): SignInClient {
  const { cookie } = request.headers;
  return {
    network: site(request.ip),
    device: cookieIn(cookie, 'device', baseUrl),
    session: cookieIn(cookie, 'session', baseUrl),
    language: say.tag,
  };
}

/** The device of a request's browser, if an administrator has signed in with it before. Throws `DatabaseError`. */
export async function deviceOf(
  { database, clock, baseUrl, ring }: ConsoleParts,
  { headers }: FastifyRequest,
): Promise<string | undefined> {
  const cookie = cookieIn(headers.cookie, 'device', baseUrl);
  const owner = claimedOwner(cookie);
  const administrator = owner === undefined ? undefined : await findAdministrator(database, owner);
  return administrator && knownDevice(ring, administrator, cookie, clock.now());
}

/** The cookies of a browser after a sign-in. */
export function signedInCookies(
  { baseUrl, ring }: Pick<ConsoleParts, 'baseUrl' | 'ring'>,
  { secret, administrator }: Pick<SignedIn, 'secret' | 'administrator'>,
  now: number,
): string[] {
  return [
    setCookie('session', cookieValue(ring, secret, now), baseUrl),
    deviceCookie({ baseUrl, ring }, administrator, now),
  ];
}

/** The cookie by which a browser of `administrator` is known from now on. */
export function deviceCookie(
  { baseUrl, ring }: Pick<ConsoleParts, 'baseUrl' | 'ring'>,
  administrator: Administrator,
  now: number,
): string {
  return setCookie('device', newDevice(ring, administrator, now), baseUrl, DEVICE_MS / SECOND_MS);
}

/** Completes a sign-in: sets a new session's cookie, and leads to the address that was asked for before, or shows the draft of its form. */
export async function enter(visit: Visit, done: SignedIn, { next, draft }: CarriedDraft): Promise<Outcome> {
  const { request, now } = visit;
  const { secret, administrator, session } = done;
  note(request, { sign_in: 'signed_in', administrator: administrator.id });
  const headers = { 'set-cookie': signedInCookies(visit, done, now) };
  const sent = next !== undefined && draft !== undefined ? unpackDraft(draft) : undefined;
  if (!sent) return { to: visit.path + (next ?? ''), headers };
  const principal = principalOf(administrator, { session: session.id, request_id: request.id });
  const ends = { at: now + SESSION_IDLE_MS, unused: now, isFinal: false };
  Object.assign(visit, { query: new URL(next!, visit.baseUrl).searchParams });
  return { ...(await draftPage(signedIn(visit, { principal, secret, ends }), sent, 'late')), headers };
}
