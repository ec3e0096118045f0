// What a browser brings to a sign-in and gets from it: cookies, and the address that it asked for before.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { site } from '../../web/network.ts';
import { note } from '../../web/request-log.ts';
import type { Administrator } from '../administrator.ts';
import { claimedOwner, knownDevice, newDevice } from '../failures.ts';
import { findAdministrator } from '../queries.ts';
import { cookieValue } from '../session.ts';
import type { SignedIn, SignInClient } from '../sign-in.ts';
import { readCookieOf, setCookie } from './cookies.ts';
import { showDraft } from './guard.ts';
import { type CarriedDraft, unpackDraft } from './sign-in-page.ts';
import { type ConsolePlace, seeOther, type Visit } from './visit.ts';

/** What this browser brings along. */
export function callerOf({ request, place, tongue }: Visit): SignInClient {
  const { cookie } = request.headers;
  return {
    network: site(request.ip),
    device: readCookieOf(cookie, 'device', place.baseUrl),
    session: readCookieOf(cookie, 'session', place.baseUrl),
    language: tongue.language.tag,
  };
}

/** The device of a request's browser, if an administrator has signed in with it before. Throws `DatabaseError`. */
export async function deviceOf(
  { database, clock, baseUrl, ring }: ConsolePlace,
  { headers }: FastifyRequest,
): Promise<string | undefined> {
  const cookie = readCookieOf(headers.cookie, 'device', baseUrl);
  const owner = claimedOwner(cookie);
  const administrator = owner === undefined ? undefined : await findAdministrator(database, owner);
  return administrator && knownDevice(ring, administrator, cookie, clock.now());
}

/** The cookies of a browser after a sign-in. */
export function signedInCookies(
  { baseUrl, ring }: Pick<ConsolePlace, 'baseUrl' | 'ring'>,
  { secret, administrator }: SignedIn,
  now: number,
): string[] {
  return [
    setCookie('session', cookieValue(ring, secret, now), baseUrl),
    deviceCookie({ baseUrl, ring }, administrator, now),
  ];
}

/** The cookie by which a browser of `administrator` is known from now on. */
export function deviceCookie(
  { baseUrl, ring }: Pick<ConsolePlace, 'baseUrl' | 'ring'>,
  administrator: Administrator,
  now: number,
): string {
  return setCookie('device', newDevice(ring, administrator, now), baseUrl);
}

/** Completes a sign-in: sets a new session's cookie, and redirects to the address that was asked for before. */
export async function enter(
  visit: Visit,
  signedIn: SignedIn,
  { next, draft }: CarriedDraft,
): Promise<FastifyReply> {
  const { place, reply, now } = visit;
  const { secret, administrator, session } = signedIn;
  note(visit.request, { sign_in: 'signed_in', administrator: administrator.id });
  reply.header('set-cookie', signedInCookies(place, signedIn, now));
  const sent = next !== undefined && draft !== undefined ? unpackDraft(draft) : undefined;
  if (!sent) return seeOther(visit, place.path + (next ?? ''));
  const { id, name, email, role } = administrator;
  const by = { session: session.id, token: null, request_id: visit.request.id };
  const principal = { id, name, email, role, actor: `administrator:${id}`, ...by };
  const query = new URL(next!, place.baseUrl).searchParams;
  return showDraft({ ...visit, principal, formKey: { kind: 'session', secret }, query }, sent, 'late');
}
