// Device cookies: they tell a known browser of an administrator from an unknown one. They give no access.
import { randomBytes } from 'node:crypto';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { DAY_MS } from '../lib/time.ts';
import type { Administrator } from './administrator.ts';

/** Lifetime of a device cookie. */
export const DEVICE_MS = 180 * DAY_MS;

/**
 * The cookie of a browser with which `administrator` has just signed in (OWASP, Slow Down Online Guessing Attacks with Device
 * Cookies). It is stored nowhere: every node checks its MAC, which covers the hash of their password. Because a change of the
 * password or of a second factor writes a new hash, it ends the cookie.
 */
export function newDevice(ring: KeyRing, administrator: Administrator, now: number): string {
  const body = [administrator.id, now + DEVICE_MS, randomBytes(16).toString('base64url')].join('.');
  return `${body}.${ring.mac('device', sealed(administrator, body))}`;
}

/** Whose browser a cookie says that it is, unchecked. */
export function claimedOwner(cookie: string | undefined): string | undefined {
  return /^(adm_[0-9a-z]{20,60})\./.exec(cookie ?? '')?.[1];
}

/** What tells this browser of `administrator` from their others; undefined where the cookie is not one of theirs, or too old. */
export function knownDevice(
  ring: KeyRing,
  administrator: Administrator,
  cookie: string | undefined,
  now: number,
): string | undefined {
  const parts = /^((adm_[0-9a-z]{20,60})\.(\d{1,15})\.([\w-]{22}))\.([\w-]{43})$/.exec(cookie ?? '');
  if (!parts || administrator.password === null) return undefined;
  const [, body, id, expires, nonce, given] = parts;
  if (id !== administrator.id || Number(expires) <= now) return undefined;
  return ring.isMac('device', sealed(administrator, body!), given!) ? nonce : undefined;
}

function sealed({ password }: Administrator, body: string): string {
  return `${body} ${password}`;
}
