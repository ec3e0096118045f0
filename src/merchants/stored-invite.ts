// An invitation to register as the store keeps it: its code's digest and what became of it.
import type { Mode } from './merchant.ts';

/** A row of `invites`. Times in milliseconds since 1970. */
export interface Invite {
  /** `inv_…`. */
  id: string;
  /** SHA-256 of the code, in hexadecimal. */
  digest: string;
  /** What the key makes that comes of it: real payments or test payments. */
  mode: Mode;
  /** Whom it is for, in its maker's words. */
  note: string | null;
  /** Who registered with it. */
  merchant_id: string | null;
  salt: string;
  version: number;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  revoked_at: number | null;
}

/** The columns that an invitation's digest in the history covers: all, in this order. Append only. */
export const INVITE_COLUMNS = [
  'id',
  'digest',
  'mode',
  'note',
  'merchant_id',
  'salt',
  'version',
  'created_at',
  'expires_at',
  'used_at',
  'revoked_at',
] as const satisfies (keyof Invite)[];

/** What an invitation's id, and so the subject of an entry about one, begins with. */
export const INVITE_ID_PREFIX = 'inv_';
