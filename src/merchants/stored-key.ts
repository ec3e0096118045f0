// An API key as the store keeps it: its digest and ends, never the key.
import type { ApiKey } from './merchant.ts';

/** A row of `api_keys`. One of a key that stands in the configuration is there once it was rotated or revoked. Times in milliseconds since 1970. */
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
] as const satisfies (keyof StoredKey)[];

/** What a key's id, and so the subject of an entry about a key, begins with. */
export const KEY_ID_PREFIX = 'key_';

/** Whether a key no longer works at `now`. */
export function isOver(
  key: Pick<StoredKey, 'expires_at'> & { revoked_at?: number | null },
  now: number,
): boolean {
  return (key.revoked_at ?? null) !== null || (key.expires_at !== null && now >= key.expires_at);
}
