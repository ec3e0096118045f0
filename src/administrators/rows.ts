// The rows that hang on an administrator: passkeys, sessions and tokens, each with the columns that its digest covers.
import { integer, integerOrNull, type RowOf, table, text } from '../store/table.ts';
import type { Role } from './administrator.ts';

/** A row of `passkeys`. Times in milliseconds since 1970. */
export const PASSKEYS = table('passkeys', {
  /** `psk_…`. */
  id: text(),
  administrator_id: text(),
  /** base64url, as browsers name it. */
  credential_id: text(),
  /** COSE, base64url. */
  public_key: text(),
  /** The device's count of uses; 0 for ever where it keeps none. */
  counter: integer(),
  /** JSON array: how the device may be reached. */
  transports: text(),
  /** What its owner calls it. */
  name: text(),
  salt: text(),
  version: integer(),
  created_at: integer(),
  used_at: integerOrNull(),
});
export type Passkey = RowOf<typeof PASSKEYS>;

/** What a session was proved with, beside the password. */
export type Factor = 'totp' | 'passkey' | 'recovery_code';

/** A row of `sessions`. Times in milliseconds since 1970. */
export const SESSIONS = table('sessions', {
  /** `ses_…`. */
  id: text(),
  /** SHA-256 of its secret. */
  digest: text(),
  administrator_id: text(),
  /** What it was proved with, beside the password. */
  factor: text<Factor>(),
  salt: text(),
  version: integer(),
  created_at: integer(),
  expires_at: integer(),
  ended_at: integerOrNull(),
});
export type Session = RowOf<typeof SESSIONS>;

/** A row of `administrator_tokens`. Times in milliseconds since 1970. */
export const TOKENS = table('administrator_tokens', {
  /** `tok_…`. */
  id: text(),
  /** SHA-256 of the token. */
  digest: text(),
  administrator_id: text(),
  role: text<Role>(),
  /** What it is for, in its maker's words. */
  name: text(),
  salt: text(),
  version: integer(),
  created_at: integer(),
  expires_at: integer(),
  revoked_at: integerOrNull(),
});
export type Token = RowOf<typeof TOKENS>;
