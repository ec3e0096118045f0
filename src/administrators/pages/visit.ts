// One look at the console: who it is, by which cookies, in which light and language.
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { pathOf } from '../../lib/web-address.ts';
import { preferenceCookie, themeCookie, themeOf } from '../../web/markup/theme.ts';
import { browserSecret, newBrowserSecret } from '../../web/pages/form.ts';
import type { Redirect } from '../../web/pages/route.ts';
import { openCookie } from '../session.ts';
import { cookieIn, type FormKey, NAMES, setCookie, tokenField } from './cookies.ts';
import type { ConsoleParts, Context, Route, Visit } from './route.ts';
import { phrasebook, tongueOf } from './tongue.ts';

/** What every request to the console works with. */
export type ConsolePlace = ConsoleParts & Pick<Visit, 'path' | 'pages'>;

export const placeOf = (parts: ConsoleParts, routes: readonly Route[]): ConsolePlace => ({
  ...parts,
  path: `${pathOf(parts.baseUrl)}/console`,
  pages: new Map(routes.flatMap((route) => (route.method === 'GET' ? [[route.path, route]] : []))),
});

/** The session of a request, with the cookies that are due: a session's last use, a secret for forms. Throws `DatabaseError`. */
export async function visitOf(request: FastifyRequest, place: ConsolePlace): Promise<Visit> {
  const { baseUrl } = place;
  const { headers } = request;
  const held = await openCookie(place, cookieIn(headers.cookie, 'session', baseUrl) ?? '', place.clock.now());
  if (!held) {
    const known = browserSecret(headers, NAMES.form, baseUrl);
    const { secret, cookie } = known ? { secret: known } : newBrowserSecret(NAMES.form, baseUrl);
    return strangerOf(request, place, secret, cookie === undefined ? [] : [cookie]);
  }
  const { secret, refreshed, ends } = held;
  const principal = { ...held.principal, request_id: request.id };
  request.principal = principal; // for the log
  const cookies = refreshed === undefined ? [] : [setCookie('session', refreshed, baseUrl)];
  return signedIn({ ...strangerOf(request, place), cookies }, { principal, secret, ends });
}

/** The visit of a stranger. It needs no store. */
export function strangerOf(
  request: FastifyRequest,
  place: ConsolePlace,
  secret = '',
  cookies: readonly string[] = [],
): Visit {
  const { baseUrl, path, timeZone } = place;
  const { body, headers } = request;
  const { cookie } = headers;
  const url = request.raw.url!;
  const say = phrasebook.choose(cookieIn(cookie, 'language', baseUrl), headers['accept-language']);
  return {
    ...place,
    ...tongueOf(say, timeZone),
    request,
    principal: undefined,
    ends: undefined,
    now: place.clock.now(),
    theme: themeOf(cookie, baseUrl),
    keys: cookieIn(cookie, 'keys', baseUrl) !== 'off',
    params: request.params as Record<string, string>,
    query: new URLSearchParams(/\?.*/.exec(url)?.[0]),
    form: body instanceof URLSearchParams ? body : new URLSearchParams(),
    here: request.method === 'POST' ? undefined : url,
    address: (below, asked) => addressOf(path, below, asked),
    ...keyed({ kind: 'form', secret }),
    nonce: randomBytes(16).toString('base64url'),
    cookies,
  };
}

const keyed = (formKey: FormKey) => ({ formKey, token: tokenField(formKey) });

/** Makes a visit that of an administrator, whose session has `secret`. */
export function signedIn(
  visit: Visit,
  { principal, secret, ends }: Pick<Context, 'principal' | 'ends'> & { secret: string },
): Context {
  const act = { actor: principal.actor, request_id: visit.request.id };
  return Object.assign(visit, { principal, ends, act, ...keyed({ kind: 'session', secret }) });
}

/** What was asked for below the console's address, with its query. */
export const targetOf = ({ request, path }: Visit): string => request.raw.url!.slice(path.length) || '/';

/** How an address asks to keep a preference, and the cookie that keeps it; one at a time. */
const PREFERENCES: readonly (readonly [name: string, cookie: (value: string, baseUrl: string) => string])[] =
  [
    ['theme', themeCookie],
    ['keys', (value, baseUrl) => preferenceCookie(NAMES.keys, value === 'off' ? 'off' : undefined, baseUrl)],
    ['lang', (value, baseUrl) => preferenceCookie(NAMES.language, tagIn(value), baseUrl)],
  ];

const tagIn = (value: string) => phrasebook.tags.find((tag) => tag === value);

/** Keeps a preference that an address asks for, and leads to the address without it; undefined where it asks for none. */
export function keepPreference(visit: Visit): Redirect | undefined {
  const { query, baseUrl, address } = visit;
  const asked = PREFERENCES.find(([name]) => query.has(name));
  if (!asked) return undefined;
  const [name, cookieOf] = asked;
  const rest = new URLSearchParams(query);
  for (const [one] of PREFERENCES) rest.delete(one);
  const to = address(targetOf(visit).split('?', 1)[0]!) + (rest.size > 0 ? `?${rest}` : '');
  return { to, headers: { 'set-cookie': cookieOf(query.get(name)!, baseUrl) } };
}

function addressOf(
  path: string,
  below: string,
  asked: Readonly<Record<string, string | undefined>> = {},
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value) query.set(name, value);
  return `${path}${below === '/' ? '' : below}${query.size > 0 ? `?${query}` : ''}`;
}
