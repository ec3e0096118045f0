// An invitation to register as the store keeps it: its code's digest and what became of it.
import { integer, integerOrNull, type RowOf, table, text, textOrNull } from '../store/table.ts';
import type { Mode } from './merchant.ts';

/** A row of `invites`. Times in milliseconds since 1970. */
export const INVITES = table('invites', {
  /** `inv_…`. */
  id: text(),
  /** SHA-256 of the code, in hexadecimal. */
  digest: text(),
  /** What the key makes that comes of it: real payments or test payments. */
  mode: text<Mode>(),
  /** Whom it is for, in its maker's words. */
  note: textOrNull(),
  /** Who registered with it. */
  merchant_id: textOrNull(),
  salt: text(),
  version: integer(),
  created_at: integer(),
  expires_at: integer(),
  used_at: integerOrNull(),
  revoked_at: integerOrNull(),
});
export type Invite = RowOf<typeof INVITES>;

/** What an invitation's id, and so the subject of an entry about one, begins with. */
export const INVITE_ID_PREFIX = 'inv_';
