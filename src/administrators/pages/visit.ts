// One look at the console: who it is, by which cookies, in which light, and how its answers are sent.
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Language, Locale } from '../../lib/locale.ts';
import { momentsIn } from '../../lib/moments.ts';
import { Phrasebook, type Say } from '../../lib/phrases.ts';
import { derivedSecret } from '../../lib/secrets.ts';
import { SECOND_MS } from '../../lib/time.ts';
import { pathOf } from '../../lib/web-address.ts';
import { LANGUAGES } from '../../web/markup/languages.ts';
import { pageHeaders } from '../../web/markup/page.ts';
import { preferenceCookie, type Theme, themeCookie, themeOf } from '../../web/markup/theme.ts';
import { isRandom, newRandom } from '../../web/pages/form.ts';
import { note, noteFields } from '../../web/request-log.ts';
import type { Principal } from '../administrator.ts';
import { openCookie, type SessionEnd } from '../session.ts';
import {
  type FormKey,
  KEYS_COOKIE,
  LANGUAGE_COOKIE,
  languageIn,
  readCookieOf,
  setCookie,
  tokenField,
  wantsKeys,
} from './cookies.ts';
import { framed } from './frame.ts';
import { hasFaults } from './parts.ts';
import type { ProblemPlace } from './problem.ts';
import type { ConsoleParts, Context, Route, Shown } from './route.ts';

/** What every request to the console works with. */
export interface ConsolePlace extends ConsoleParts {
  /** The path of the console's address, without a slash at its end. */
  path: string;
  /** The routes of GET, by their paths. */
  pages: ReadonlyMap<string, Route>;
}

/** The console's texts: English, and the languages of the files in the folder. */
export const phrasebook = new Phrasebook(new URL('phrases/', import.meta.url));

/** A language of the console, with how it writes money and moments. */
export interface Tongue {
  language: Language;
  say: Say;
  money(minor: number, currency: string): string;
  moment(ms: number): string;
}

const tongues = new Map<string, Tongue>();

/** The language that `say` speaks. */
export function tongueOf(say: Say, timeZone: string): Tongue {
  const name = `${say.tag} ${timeZone}`;
  let tongue = tongues.get(name);
  if (!tongue) {
    const language = LANGUAGES.find(({ tag }) => tag === say.tag)!;
    const locale = new Locale<never>(language, {} as never, timeZone);
    const moments = momentsIn(timeZone, say.tag === 'en' ? undefined : say.tag);
    tongue = {
      language,
      say,
      money: (minor, currency) => locale.money(minor, currency),
      moment: (ms) => moments.moment(ms),
    };
    tongues.set(name, tongue);
  }
  return tongue;
}

export function placeOf(parts: ConsoleParts, routes: readonly Route[]): ConsolePlace {
  return {
    ...parts,
    path: `${pathOf(parts.baseUrl)}/console`,
    pages: new Map(routes.flatMap((route) => (route.method === 'GET' ? [[route.path, route]] : []))),
  };
}

export interface Visit {
  place: ConsolePlace;
  request: FastifyRequest;
  reply: FastifyReply;
  now: number;
  theme: Theme | undefined;
  tongue: Tongue;
  keys: boolean;
  query: URLSearchParams;
  /** Below the console's address, as it came, with its query. */
  target: string;
  principal: Principal | undefined;
  /** When the session ends. */
  ends: SessionEnd | undefined;
  /** What the tokens of this visitor's forms are made with. */
  formKey: FormKey;
  /** The address that a choice of theme or language returns to. Undefined if opening it would lose what is shown. */
  here: string | undefined;
}

/** The session of a request. Throws `DatabaseError`. Sets the cookies that are due: a session's last use, a secret for forms. */
export async function visitOf(
  request: FastifyRequest,
  reply: FastifyReply,
  place: ConsolePlace,
): Promise<Visit> {
  const { clock, baseUrl, path } = place;
  const { cookie } = request.headers;
  const now = clock.now();
  const url = request.raw.url!;
  const target = url.slice(path.length) || '/';
  const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
  const held = await openCookie(place, readCookieOf(cookie, 'session', baseUrl) ?? '', now);
  const principal = held && { ...held.principal, request_id: request.id };
  if (principal) request.principal = principal; // for the log
  if (held?.refreshed) reply.header('set-cookie', setCookie('session', held.refreshed, baseUrl));
  const formKey: FormKey = held
    ? { kind: 'session', secret: held.secret }
    : formKeyOf(cookie, reply, baseUrl);
  return {
    place,
    request,
    reply,
    now,
    theme: themeOf(cookie, baseUrl),
    tongue: tongueIn(request, place),
    keys: wantsKeys(cookie, baseUrl),
    query,
    target,
    principal,
    ends: held?.ends,
    formKey,
    here: request.method === 'POST' ? undefined : url,
  };
}

/** The reader's language: the one they chose, else the browser's. */
export function tongueIn({ headers }: FastifyRequest, { baseUrl, timeZone }: ConsolePlace): Tongue {
  const say = phrasebook.choose(languageIn(headers.cookie, baseUrl), headers['accept-language']);
  return tongueOf(say, timeZone);
}

function formKeyOf(cookie: string | undefined, reply: FastifyReply, baseUrl: string): FormKey {
  const held = readCookieOf(cookie, 'form', baseUrl);
  if (isRandom(held)) return { kind: 'form', secret: held };
  const secret = newRandom();
  reply.header('set-cookie', setCookie('form', secret, baseUrl));
  return { kind: 'form', secret };
}

/**
 * The headers of the console's pages: those of all pages, with a script of its own, and with an Origin header to itself (see
 * `isSameOrigin`).
 */
function headersOf({ baseUrl }: ConsolePlace, nonce?: string): Record<string, string> {
  return { ...pageHeaders(`${baseUrl}/console`, nonce), 'referrer-policy': 'same-origin' };
}

/** A form that was refused, shown with what was typed. */
const REFUSED = [409, 422];
/** Lets a browser keep the page for going back: it cannot ask for a form's answer again. Signing out removes it (`Clear-Site-Data`). */
const KEPT_FOR_BACK = { 'cache-control': 'private, no-cache' };

/** Sends a page, in the frame of the signed-in administrator. */
export async function show(visit: Visit, shown: Shown): Promise<FastifyReply> {
  const { place, request, reply, theme, tongue, keys, principal, formKey, here, now, ends } = visit;
  if (shown.faults) noteFields(request, shown.faults);
  if (shown.code) note(request, { code: shown.code });
  const nonce = randomBytes(16).toString('base64url');
  const waiting = principal ? await place.waiting() : 0;
  const token = tokenField(formKey);
  const left = ends && { seconds: Math.floor((ends.at - now) / SECOND_MS), isFinal: ends.isFinal };
  const signedIn = principal && { principal, token, waiting, left };
  const { path } = place;
  const text = framed(shown, { path, here, theme, ...tongue, tags: phrasebook.tags, nonce, keys, signedIn });
  const status = shown.status ?? (hasFaults(shown.faults) ? 422 : 200);
  return reply
    .code(status)
    .headers(headersOf(place, nonce))
    .headers(principal && request.method === 'POST' && REFUSED.includes(status) ? KEPT_FOR_BACK : {})
    .headers(shown.headers ?? {})
    .send(text);
}

/** Where a page about a problem stands. */
export const problemPlace = ({ place: { path }, tongue: { say } }: Visit): ProblemPlace => ({ say, path });

/** Leads to another address. After a form to its content: the browser would go on with the `#errors` of the form's address. */
export function seeOther(visit: Visit, to: string): FastifyReply {
  const { place, reply, request } = visit;
  const location = request.method === 'POST' && !to.includes('#') ? `${to}#main` : to;
  return reply
    .code(303)
    .headers({ ...headersOf(place), location })
    .send();
}

/** The preferences that an address may ask to keep, one at a time. */
const PREFERENCES = ['theme', 'keys', 'lang'] as const;

/** Keeps a preference that an address asks for, and the address without it; undefined where it asks for none. */
export function preferred({ place, query, target }: Visit): { cookie: string; to: string } | undefined {
  const { path, baseUrl } = place;
  const [theme, keys, lang] = PREFERENCES.map((name) => query.get(name)) as [string?, string?, string?];
  const cookie =
    theme != null
      ? themeCookie(theme, baseUrl)
      : keys != null
        ? preferenceCookie(KEYS_COOKIE, keys === 'off' ? 'off' : undefined, baseUrl)
        : lang != null
          ? preferenceCookie(
              LANGUAGE_COOKIE,
              phrasebook.tags.find((tag) => tag === lang),
              baseUrl,
            )
          : undefined;
  if (cookie === undefined) return undefined;
  const rest = new URLSearchParams(query);
  for (const name of PREFERENCES) rest.delete(name);
  const below = target.split('?', 1)[0]!;
  const kept = rest.size > 0 ? `?${rest}` : '';
  return { cookie, to: `${path}${below === '/' ? '' : below}${kept}` };
}

/** What a page's own code is given. */
export function contextOf(
  visit: Visit,
  principal: Principal,
  params: Readonly<Record<string, string>>,
  form: URLSearchParams,
): Context {
  const {
    place,
    request,
    now,
    keys,
    query,
    formKey,
    tongue,
    ends = { at: now, unused: now, isFinal: true },
  } = visit;
  const { path, ...parts } = place;
  return {
    ...parts,
    ...tongue,
    request,
    principal,
    act: { actor: principal.actor, request_id: request.id },
    now,
    keys,
    ends,
    params,
    query,
    form,
    address: (below, asked) => addressOf(path, below, asked),
    token: tokenField(formKey),
    secretOf: (prefix, seed) => derivedSecret(prefix, Buffer.from(formKey.secret), `console form ${seed}`),
  };
}

export function addressOf(
  path: string,
  below: string,
  asked: Readonly<Record<string, string | undefined>> = {},
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value) query.set(name, value);
  return `${path}${below === '/' ? '' : below}${query.size > 0 ? `?${query}` : ''}`;
}
