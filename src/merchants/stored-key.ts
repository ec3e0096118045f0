// An API key as the store keeps it: its digest and ends, never the key.
import { newSalt } from '../journal/audit-entry.ts';
import { DAY_MS, MINUTE_MS } from '../lib/time.ts';
import { type ApiKey, keyId } from './merchant.ts';

/**
 * A row of `api_keys`. One of a key that stands in the configuration is there once it was rotated or revoked. Times in milliseconds
 * since 1970.
 */
export interface StoredKey extends ApiKey {
  /** `mer_…`. */
  merchant_id: string;
  /** What it is for, in its maker's words. */
  name: string | null;
  /** The last four characters of the key, to tell it from others by; nothing where the configuration held its digest alone. */
  last_four: string | null;
  /** The key that was made in its place. */
  replaced_by: string | null;
  salt: string;
  version: number;
  created_at: number;
  revoked_at: number | null;
  /** The id of the key it was made with, else `operator` or `administrator`; nothing for a first key and one of the configuration. */
  made_by: string | null;
}

/** The columns that a key's digest in the history covers: all, in this order. Append only. */
export const KEY_COLUMNS = [
  'id',
  'digest',
  'merchant_id',
  'mode',
  'name',
  'last_four',
  'replaced_by',
  'salt',
  'version',
  'created_at',
  'expires_at',
  'revoked_at',
  'made_by',
] as const satisfies (keyof StoredKey)[];

/** The row of a new key. */
export function keyRow(
  digest: string,
  {
    merchantId,
    ...rest
  }: Pick<StoredKey, 'mode' | 'name' | 'expires_at' | 'last_four' | 'made_by'> & { merchantId: string },
  now: number,
): StoredKey {
  return {
    id: keyId(digest),
    digest,
    merchant_id: merchantId,
    ...rest,
    replaced_by: null,
    salt: newSalt(),
    version: 1,
    created_at: now,
    revoked_at: null,
  };
}

/** What a key's id, and so the subject of an entry about a key, begins with. */
export const KEY_ID_PREFIX = 'key_';

/** Whether a key no longer works at `now`. */
export function isOver(
  key: Pick<StoredKey, 'expires_at'> & { revoked_at?: number | null },
  now: number,
): boolean {
  return (key.revoked_at ?? null) !== null || (key.expires_at !== null && now >= key.expires_at);
}

/** What a key is at `now`. One that was replaced is active until it ends. */
export function keyStatus(key: Parameters<typeof isOver>[0], now: number): 'active' | 'expired' | 'revoked' {
  if ((key.revoked_at ?? null) !== null) return 'revoked';
  return isOver(key, now) ? 'expired' : 'active';
}

/** For how long a key that is over is still listed. */
export const LISTED_FOR_MS = 30 * DAY_MS;

/** For how long a form, sent again, shows again what it has made: after a second click, a reload. */
const SHOWN_AGAIN_MS = 10 * MINUTE_MS;

/** Whether the form that made a key or an invitation may show it once more at `now`. */
export function isShownAgain({ created_at }: { created_at: number }, now: number): boolean {
  return now < created_at + SHOWN_AGAIN_MS;
}
