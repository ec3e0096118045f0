// The rows that hang on an administrator: passkeys, sessions and tokens, each with the columns that its digest covers.
import type { Role } from './administrator.ts';

/** A row of `passkeys`. Times in milliseconds since 1970. */
export interface Passkey {
  /** `psk_…`. */
  id: string;
  administrator_id: string;
  /** base64url, as browsers name it. */
  credential_id: string;
  /** COSE, base64url. */
  public_key: string;
  /** The device's count of uses; 0 for ever where it keeps none. */
  counter: number;
  /** JSON array: how the device may be reached. */
  transports: string;
  /** What its owner calls it. */
  name: string;
  salt: string;
  version: number;
  created_at: number;
  used_at: number | null;
}

/** The columns that a passkey's digest in the history covers: all, in this order. Append only. */
export const PASSKEY_COLUMNS = [
  'id',
  'administrator_id',
  'credential_id',
  'public_key',
  'counter',
  'transports',
  'name',
  'salt',
  'version',
  'created_at',
  'used_at',
] as const satisfies (keyof Passkey)[];

/** What a session was proved with, beside the password. */
export type Factor = 'totp' | 'passkey' | 'recovery_code';

/** A row of `sessions`. Times in milliseconds since 1970. */
export interface Session {
  /** `ses_…`. */
  id: string;
  /** SHA-256 of its secret. */
  digest: string;
  administrator_id: string;
  /** What it was proved with, beside the password. */
  factor: Factor;
  salt: string;
  version: number;
  created_at: number;
  expires_at: number;
  ended_at: number | null;
}

/** The columns that a session's digest in the history covers: all, in this order. Append only. */
export const SESSION_COLUMNS = [
  'id',
  'digest',
  'administrator_id',
  'factor',
  'salt',
  'version',
  'created_at',
  'expires_at',
  'ended_at',
] as const satisfies (keyof Session)[];

/** A row of `administrator_tokens`. Times in milliseconds since 1970. */
export interface Token {
  /** `tok_…`. */
  id: string;
  /** SHA-256 of the token. */
  digest: string;
  administrator_id: string;
  role: Role;
  /** What it is for, in its maker's words. */
  name: string;
  salt: string;
  version: number;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
}

/** The columns that a token's digest in the history covers: all, in this order. Append only. */
export const TOKEN_COLUMNS = [
  'id',
  'digest',
  'administrator_id',
  'role',
  'name',
  'salt',
  'version',
  'created_at',
  'expires_at',
  'revoked_at',
] as const satisfies (keyof Token)[];
