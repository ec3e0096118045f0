// An administrator of this installation: who may look, who may decide, and who may do everything.

import type { Act } from '../journal/audit-entry.ts';
import { type Facts, type RowChange, recordRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { integer, integerOrNull, type RowOf, table, text, textOrNull } from '../store/table.ts';
import type { Permission } from '../web/endpoint.ts';

export const ROLES = ['administrator', 'reviewer', 'auditor'] as const;
export type Role = (typeof ROLES)[number];

/** The permission that each kind of act needs, by role: every role reads, reviewers decide, administrators do everything else. */
const MAY = {
  read: ['administrator', 'reviewer', 'auditor'],
  decide: ['administrator', 'reviewer'],
  administer: ['administrator'],
} as const satisfies Record<Permission, readonly Role[]>;

export function may(role: Role, permission: Permission): boolean {
  return (MAY[permission] as readonly Role[]).includes(role);
}

/** The lesser of two roles. */
export function lesserRole(one: Role, other: Role): Role {
  return ROLES[Math.max(ROLES.indexOf(one), ROLES.indexOf(other))]!;
}

/** A row of `administrators`. Times in milliseconds since 1970. */
export const ADMINISTRATORS = table('administrators', {
  /** `adm_…`. */
  id: text(),
  /** In lower case. */
  email: text(),
  name: text(),
  role: text<Role>(),
  /** argon2id as a PHC string; nothing until it is set up. */
  password: textOrNull(),
  /** Sealed by the key ring: `openTotpSecret`. */
  totp_secret: textOrNull(),
  /** The last time step whose code was taken: it and those before are spent. */
  totp_step: integerOrNull(),
  /** JSON array of the digests of the codes that are left. */
  recovery_codes: textOrNull(),
  setup_digest: textOrNull(),
  setup_expires_at: integerOrNull(),
  disabled_at: integerOrNull(),
  /** Random: keeps digests in the history from telling what an erased row held. */
  salt: text(),
  /** How many entries the history has about this administrator. */
  version: integer(),
  created_at: integer(),
  updated_at: integer(),
  /** Which letters they want, and in which language, as JSON text; null as long as that is what all have. */
  letters: textOrNull(),
});
export type Administrator = RowOf<typeof ADMINISTRATORS>;

/** The administrator who acts in a request, by a session or by a token, which may have a lesser role. Also the act of its entries. */
export interface Principal extends Act {
  id: string;
  name: string;
  email: string;
  role: Role;
  /** How they are named in the history: `administrator:adm_…`. */
  actor: string;
  /** `ses_…`, or undefined. */
  session: string | null;
  /** `tok_…`, or undefined. */
  token: string | null;
  /** The request that it acts by. */
  request_id: string | null;
}

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

/** What is to change so that letters to an administrator come in the language that the console has for them; nothing if they do. */
export function readsIn({ letters }: Administrator, language: string | undefined): { letters?: string } {
  const kept = letters === null ? {} : JSON.parse(letters);
  const isSame = language === undefined || language === (kept.language ?? 'en');
  return isSame ? {} : { letters: JSON.stringify({ ...kept, language }) };
}

/** How an administrator is named in the history. */
export function actorOf(id: string): string {
  return `administrator:${id}`;
}

/** Who acts as an administrator, by a session or by a token (their ids), in `role` if that is not theirs. */
export const principalOf = (
  { id, name, email, role }: Pick<Administrator, 'id' | 'name' | 'email' | 'role'>,
  by: Partial<Pick<Principal, 'session' | 'token' | 'request_id'>>,
): Principal => ({
  ...{ id, name, email, role, actor: actorOf(id) },
  ...{ session: null, token: null, request_id: null, ...by },
});

/** Records a change of an administrator. `facts` hold no personal data. Throws what `recordRow` does. */
export function recordAdministrator(
  transaction: Transaction,
  act: Act,
  action: string,
  change: RowChange<Administrator>,
  facts: Facts = {},
): Promise<void> {
  return recordRow(transaction, act, action, ADMINISTRATORS, change, facts);
}

/** Records that a passkey is no more. Throws what `recordRow` does. */
export function recordGone(transaction: Transaction, act: Act, before: Passkey): Promise<void> {
  return recordRow(transaction, act, 'passkey.removed', PASSKEYS, { before, after: undefined });
}
