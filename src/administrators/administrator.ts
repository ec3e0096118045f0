// An administrator of this installation: who may look, who may decide, and who may do everything.

export const ROLES = ['administrator', 'reviewer', 'auditor'] as const;
export type Role = (typeof ROLES)[number];

/** What each kind of act needs, and who may: everybody looks, reviewers decide, administrators do everything else. */
const MAY = {
  read: ['administrator', 'reviewer', 'auditor'],
  decide: ['administrator', 'reviewer'],
  administer: ['administrator'],
} as const satisfies Record<string, readonly Role[]>;
export type Permission = keyof typeof MAY;

export function may(role: Role, permission: Permission): boolean {
  return (MAY[permission] as readonly Role[]).includes(role);
}

/** A row of `administrators`. Times in milliseconds since 1970. */
export interface Administrator {
  /** `adm_…`. */
  id: string;
  /** In lower case. */
  email: string;
  name: string;
  role: Role;
  /** argon2id as a PHC string; nothing until it is set up. */
  password: string | null;
  /** Sealed by the key ring: `openTotpSecret`. In base 32 in rows of the version before that are not sealed yet. */
  totp_secret: string | null;
  /** The last time step whose code was taken: it and those before are spent. */
  totp_step: number | null;
  /** JSON array of the digests of the codes that are left. */
  recovery_codes: string | null;
  setup_digest: string | null;
  setup_expires_at: number | null;
  disabled_at: number | null;
  /** Random: keeps digests in the history from telling what an erased row held. */
  salt: string;
  /** How many entries the history has about this administrator. */
  version: number;
  created_at: number;
  updated_at: number;
}

/** The columns that an administrator's digest in the history covers: all, in this order. Append only. */
export const ADMINISTRATOR_COLUMNS = [
  'id',
  'email',
  'name',
  'role',
  'password',
  'totp_secret',
  'totp_step',
  'recovery_codes',
  'setup_digest',
  'setup_expires_at',
  'disabled_at',
  'salt',
  'version',
  'created_at',
  'updated_at',
] as const satisfies (keyof Administrator)[];

/** Who acts: an administrator, by a session of theirs or by a token, which may have a lesser role than they. */
export interface Principal {
  id: string;
  name: string;
  email: string;
  role: Role;
  /** How they are named in the history: `administrator:adm_…`. */
  actor: string;
  /** `ses_…`, or nothing. */
  session: string | null;
  /** `tok_…`, or nothing. */
  token: string | null;
}
