// The console's cookies: who is signed in, whose form it is before anybody is, which browser it is, and what somebody prefers.
import { DEVICE_MS } from '../administrators/device.ts';
import { SECOND_MS } from '../lib/time.ts';
import { isHttps } from '../lib/web-address.ts';

/** Names without the prefix that binds a cookie to this very host and to https (RFC 6265bis, section 4.1.3.2). */
const NAMES = {
  session: 'counterfoil_session',
  form: 'counterfoil_form',
  device: 'counterfoil_device',
} as const;
export type CookieName = keyof typeof NAMES;

export const KEYS_COOKIE = 'counterfoil_keys';

/** What a cookie is called at `baseUrl`. Browsers keep the prefix to https; without it, in development, the name is bare. */
function nameAt(name: CookieName, baseUrl: string): string {
  return isHttps(baseUrl) ? `__Host-${NAMES[name]}` : NAMES[name];
}

/** The Set-Cookie line of a cookie that lasts as long as the browser is open, a device's for longer; `undefined` ends it at once. */
export function setCookie(name: CookieName, value: string | undefined, baseUrl: string): string {
  const end =
    value === undefined ? '; Max-Age=0' : name === 'device' ? `; Max-Age=${DEVICE_MS / SECOND_MS}` : '';
  const secure = isHttps(baseUrl) ? '; Secure' : '';
  return `${nameAt(name, baseUrl)}=${value ?? ''}; Path=/; HttpOnly; SameSite=Strict${secure}${end}`;
}

/** A cookie's value in a Cookie header. */
export function readCookieOf(
  header: string | undefined,
  name: CookieName,
  baseUrl: string,
): string | undefined {
  return valueIn(header, nameAt(name, baseUrl));
}

/** Whether single letters are keys, which they are until somebody says otherwise. */
export function wantsKeys(header: string | undefined): boolean {
  return valueIn(header, KEYS_COOKIE) !== 'off';
}

function valueIn(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
