// What browsers keep for the console (session, secret of forms, known device, preferences), and the token of its forms.
import { boundCookie, boundName, valueIn } from '../../lib/cookie.ts';
import { type Html, hidden } from '../../lib/html.ts';
import * as token from '../../web/pages/form.ts';

/** Names without the prefix that binds a cookie to this very host. */
export const NAMES = {
  session: 'counterfoil_session',
  form: 'counterfoil_form',
  device: 'counterfoil_device',
  keys: 'counterfoil_keys',
  language: 'counterfoil_language',
} as const;

/** The Set-Cookie line of a cookie that lasts for `seconds`, else until the browser is closed; a value of `undefined` ends it at once. */
export const setCookie = (
  name: 'session' | 'device',
  value: string | undefined,
  baseUrl: string,
  seconds = value === undefined ? 0 : undefined,
): string => boundCookie(NAMES[name], value ?? '', baseUrl, seconds);

/** A cookie's value in a Cookie header. */
export const cookieIn = (
  header: string | undefined,
  name: keyof typeof NAMES,
  baseUrl: string,
): string | undefined => valueIn(header, boundName(NAMES[name], baseUrl));

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
