// An administrator of this installation: who may look, who may decide, and who may do everything.
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
  /** Which letters they want, as JSON text; null as long as they chose nothing. */
  letters: textOrNull(),
});
export type Administrator = RowOf<typeof ADMINISTRATORS>;

/** Who acts: an administrator, by a session of theirs or by a token, which may have a lesser role than they. */
export interface Principal {
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
}
