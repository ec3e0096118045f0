// An API key as the store keeps it: its digest and ends, never the key.

import { newSalt } from '../journal/audit-entry.ts';
import { DAY_MS, MINUTE_MS } from '../lib/time.ts';
import { integer, integerOrNull, type RowOf, table, text, textOrNull } from '../store/table.ts';
import { keyId, type Mode } from './merchant.ts';

/** A row of `api_keys`. Times in milliseconds since 1970. */
export const API_KEYS = table('api_keys', {
  /** `key_…`. */
  id: text(),
  /** SHA-256 of the key, in hexadecimal. */
  digest: text(),
  /** `mer_…`. */
  merchant_id: text(),
  mode: text<Mode>(),
  /** What it is for, in its maker's words. */
  name: textOrNull(),
  /** The last four characters of the key, to tell it from others by; null for one that was imported from the configuration. */
  last_four: textOrNull(),
  /** The key that was made in its place. */
  replaced_by: textOrNull(),
  salt: text(),
  version: integer(),
  created_at: integer(),
  expires_at: integerOrNull(),
  revoked_at: integerOrNull(),
  /** The id of the key it was made with, else `operator` or `administrator`; null for a first key and one that was imported. */
  made_by: textOrNull(),
});
export type StoredKey = RowOf<typeof API_KEYS>;

/** A key of the store or of the configuration, which holds less about it. */
export interface KnownKey extends Omit<StoredKey, 'salt' | 'version' | 'created_at'> {
  /** Milliseconds since 1970; null for a key of the configuration. */
  created_at: number | null;
  /** Whether it lives in the configuration: there it is replaced and revoked, and a row of the same key counts for nothing. */
  isConfigured: boolean;
}

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
    ...API_KEYS.nulls,
    ...rest,
    salt: newSalt(),
    version: 1,
    created_at: now,
  };
}

/** What a key's id, and so the subject of an entry about a key, begins with. */
export const KEY_ID_PREFIX = 'key_';

/** Whether a key is expired or revoked at `now`. */
export function isInactive(
  key: Pick<StoredKey, 'expires_at'> & { revoked_at?: number | null },
  now: number,
): boolean {
  return (key.revoked_at ?? null) !== null || (key.expires_at !== null && now >= key.expires_at);
}

/** What a key is at `now`. One that was replaced is active until it ends. */
export function keyStatus(
  key: Parameters<typeof isInactive>[0],
  now: number,
): 'active' | 'expired' | 'revoked' {
  if ((key.revoked_at ?? null) !== null) return 'revoked';
  return isInactive(key, now) ? 'expired' : 'active';
}

/** How long an inactive key is still listed. */
export const LISTED_FOR_MS = 30 * DAY_MS;

/** For how long a form, sent again, shows again what it has made: after a second click, a reload. */
const SHOWN_AGAIN_MS = 10 * MINUTE_MS;

/** Whether the form that made a key or an invitation may show it once more at `now`. */
export function isShownAgain({ created_at }: { created_at: number }, now: number): boolean {
  return now < created_at + SHOWN_AGAIN_MS;
}
