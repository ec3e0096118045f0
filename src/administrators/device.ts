// Device cookies: what tells a browser that somebody has signed in with from those of strangers. They open nothing.
import { randomBytes } from 'node:crypto';
import { hmac, isSame } from '../lib/secrets.ts';
import { DAY_MS } from '../lib/time.ts';
import type { Administrator } from './administrator.ts';

/** How long a browser is known after a sign-in. */
export const DEVICE_MS = 180 * DAY_MS;

/**
 * The cookie of a browser with which `administrator` has just signed in (OWASP, Slow Down Online Guessing Attacks with Device
 * Cookies). Nobody keeps it: every node can check it by their row, and it dies with their password.
 */
export function newDevice(administrator: Administrator, now: number): string {
  const body = [administrator.id, now + DEVICE_MS, randomBytes(16).toString('base64url')].join('.');
  return `${body}.${seal(administrator, body)}`;
}

/** Whose browser a cookie says that it is, unchecked. */
export function claimedOwner(cookie: string | undefined): string | undefined {
  return /^(adm_[0-9a-z]{20,60})\./.exec(cookie ?? '')?.[1];
}

/** What tells this browser of `administrator` from their others; nothing where the cookie is not one of theirs, or too old. */
export function knownDevice(
  administrator: Administrator,
  cookie: string | undefined,
  now: number,
): string | undefined {
  const parts = /^((adm_[0-9a-z]{20,60})\.(\d{1,15})\.([\w-]{22}))\.([\w-]{43})$/.exec(cookie ?? '');
  if (!parts || administrator.password === null) return undefined;
  const [, body, id, expires, nonce, given] = parts;
  if (id !== administrator.id || Number(expires) <= now) return undefined;
  return isSame(given!, seal(administrator, body!)) ? nonce : undefined;
}

function seal({ salt, password }: Administrator, body: string): string {
  return hmac(salt, `device ${body} ${password}`);
}
