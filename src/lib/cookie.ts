// Cookies that are bound to this host: what they are called, and what one holds.
import { isHttps } from './web-address.ts';

/**
 * What a cookie is called at `baseUrl`: with the prefix that binds it to this very host and to https (RFC 6265bis, section
 * 4.1.3.2). Browsers keep the prefix to https; without it, in development, the name is bare.
 */
export function boundName(name: string, baseUrl: string): string {
  return isHttps(baseUrl) ? `__Host-${name}` : name;
}

/**
 * The Set-Cookie line of such a cookie, which lasts for `seconds`, or until the browser is closed if undefined. A `Lax` one is also sent
 * when a link of another site is followed.
 */
export function boundCookie(
  name: string,
  value: string,
  baseUrl: string,
  seconds?: number,
  sameSite: 'Strict' | 'Lax' = 'Strict',
): string {
  const secure = isHttps(baseUrl) ? '; Secure' : '';
  const end = seconds === undefined ? '' : `; Max-Age=${seconds}`;
  return `${boundName(name, baseUrl)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}${secure}${end}`;
}

/** A cookie's value in a Cookie header. */
export function valueIn(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
