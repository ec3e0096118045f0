// What browsers keep for the console (session, secret of forms, known device, preferences), and the token of its forms.
import { boundCookie, boundName, valueIn } from '../../lib/cookie.ts';
import { type Html, hidden } from '../../lib/html.ts';
import { SECOND_MS } from '../../lib/time.ts';
import * as token from '../../web/pages/form.ts';
import { DEVICE_MS } from '../failures.ts';

/** Names without the prefix that binds a cookie to this very host. */
const NAMES = {
  session: 'counterfoil_session',
  form: 'counterfoil_form',
  device: 'counterfoil_device',
} as const;
type CookieName = keyof typeof NAMES;

export const KEYS_COOKIE = 'counterfoil_keys';
export const LANGUAGE_COOKIE = 'counterfoil_language';

/** The Set-Cookie line of a cookie that lasts as long as the browser is open, a device's for longer; `undefined` ends it at once. */
export function setCookie(name: CookieName, value: string | undefined, baseUrl: string): string {
  const seconds = value === undefined ? 0 : name === 'device' ? DEVICE_MS / SECOND_MS : undefined;
  return boundCookie(NAMES[name], value ?? '', baseUrl, seconds);
}

/** A cookie's value in a Cookie header. */
export function readCookieOf(
  header: string | undefined,
  name: CookieName,
  baseUrl: string,
): string | undefined {
  return valueIn(header, boundName(NAMES[name], baseUrl));
}

/** Whether single letters are keys. They are unless the administrator switched them off. */
export function wantsKeys(header: string | undefined, baseUrl: string): boolean {
  return valueIn(header, boundName(KEYS_COOKIE, baseUrl)) !== 'off';
}

/** The language that the administrator chose for the console. */
export function languageIn(header: string | undefined, baseUrl: string): string | undefined {
  return valueIn(header, boundName(LANGUAGE_COOKIE, baseUrl));
}

/** What a token is made with: a session's secret, or before there is one the random bytes in the form cookie. */
export interface FormKey {
  kind: 'session' | 'form';
  secret: string;
}

export const tokenField = ({ kind, secret }: FormKey): Html =>
  hidden({ token: token.tokenOf(secret, `console ${kind}`) });

/** Whether a form holds the token of a key, whose secret no page and no other site can read. */
export const hasToken = (form: URLSearchParams, { kind, secret }: FormKey): boolean =>
  token.holdsToken(form, secret, `console ${kind}`);
