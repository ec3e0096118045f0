// A merchant, its API keys and invitations, and who calls with a key.
import { newSalt } from '../journal/audit-entry.ts';
import { isWholeSecret, sha256Hex } from '../lib/secrets.ts';
import { DAY_MS, MINUTE_MS } from '../lib/time.ts';
import { integer, integerOrNull, type RowOf, table, text, textOrNull } from '../store/table.ts';
import type { Particulars } from './particulars.ts';

export type Mode = 'live' | 'test';

/** A merchant creates payments. `name` is the business name that checkout shows. */
export interface Merchant {
  id: string;
  name: string;
}

/** A key as it is kept: never the key itself. `expires_at` in milliseconds since 1970. */
export interface ApiKey {
  /** `key_…`. */
  id: string;
  /** SHA-256 of the key, in hexadecimal. */
  digest: string;
  mode: Mode;
  expires_at: number | null;
  /** What it is for, in its maker's words. */
  name?: string | null;
  /** The id of the key that was made in its place. */
  replaced_by?: string | null;
}

/** The caller of the API: a merchant, by one of its keys, in that key's mode. */
export interface Caller {
  merchant: Merchant;
  key: ApiKey;
  /** What the merchant may do more or less of than others. */
  limits: MerchantLimits;
  /** How this caller is named in the history. */
  actor: string;
}

export const DEVELOPMENT_KEY = 'cfk_test_development_key_replace_before_production';

export const KEY_PREFIX: Record<Mode, string> = { live: 'cfk_live_', test: 'cfk_test_' };

/** Whether `key` has the form of a key: whole by its checksum, or the development key, the one exception to the form. */
export function isWholeKey(key: string): boolean {
  return (
    key === DEVELOPMENT_KEY || isWholeSecret(KEY_PREFIX.live, key) || isWholeSecret(KEY_PREFIX.test, key)
  );
}

/** A key's length: its prefix, 43 characters of chance and 6 that check the rest. */
const KEY_CHARACTERS = KEY_PREFIX.test.length + 49;

/**
 * What is wrong with text that begins as a key does but is none, judged without a look-up: cut off, too long, or mistyped; nothing for a
 * whole key, and for what does not even look like one.
 */
export function keyFault(text: string): string | undefined {
  if (isWholeKey(text) || !Object.values(KEY_PREFIX).some((prefix) => text.startsWith(prefix)))
    return undefined;
  if (text.length < KEY_CHARACTERS)
    return `The API key is incomplete: ${text.length} of ${KEY_CHARACTERS} characters.`;
  if (text.length > KEY_CHARACTERS)
    return `The API key is too long: ${text.length} characters instead of ${KEY_CHARACTERS}.`;
  return 'The API key is mistyped: its last characters do not fit the others.';
}

/** A key's public name, derived from its digest, so that a digest in the configuration needs no name beside it. */
export function keyId(digestHex: string): string {
  return `key_${digestHex.slice(0, 16)}`;
}

/** A key's digest as the configuration holds it: SHA-256 of the whole key, in hexadecimal. */
export function keyDigest(key: string): string {
  return sha256Hex(key);
}

/** What checkout knows of a merchant besides the name that each payment carries. */
export interface Profile {
  /** The merchant's own site; undefined where unknown. */
  website: string | null;
  /** Where customers get help: an e-mail address, a phone number or a web address. */
  support: string | null;
  /** What it publishes about privacy, and its terms; linked at checkout. */
  privacy_url?: string | undefined;
  terms_url?: string | undefined;
  /** Its colour as `#rrggbb`: that of the stub, of links and of buttons. */
  colour?: string | undefined;
  /** Whether the pages of its test payments have the buttons to try out every state, in production too. */
  triesOut?: boolean;
  /** Where letters to the merchant go; never shown to customers. */
  email?: string | null;
  particulars?: Particulars;
}

/** Everything known of a merchant but its keys. */
export interface MerchantProfile extends Merchant, Profile {
  /** The ids of the ways to pay its customers are offered; null where it is all of them. */
  methods: readonly string[] | null;
  /** What it may do more or less of than others. */
  limits: MerchantLimits;
}

export interface MerchantWithKeys extends MerchantProfile {
  keys: readonly ApiKey[];
}

/** Requests in each mode in a second; what is not said is as for all. */
export interface MerchantLimits {
  writes_per_second?: number | undefined;
  reads_per_second?: number | undefined;
}

/** One change of a merchant's state: its actor, its reason, and the number of its audit entry. */
export interface StateChange {
  act: 'suspended' | 'resumed';
  /** `adm_…`, or `operator`. */
  by: string;
  /** Milliseconds since 1970. */
  at: number;
  /** The row's version after it, which is the number of the merchant's entries. */
  entry_version: number;
  reason: string;
}

/** A row of `merchants`. Times in milliseconds since 1970. */
export const MERCHANTS = table('merchants', {
  /** `mer_…`. */
  id: text(),
  /** Null while the merchant is not suspended. */
  suspended_at: integerOrNull(),
  /** `adm_…` or `operator`, while suspended. */
  suspended_by: textOrNull(),
  /** The last hundred changes of its state as JSON text (`StateChange[]`), oldest first. */
  changes: textOrNull(),
  /** Random: keeps the digests in the history from telling what an erased row held. */
  salt: text(),
  /** How many entries the history has about this merchant. */
  version: integer(),
  updated_at: integer(),
  /** The business name. Null for a merchant of the configuration, whose row holds its state alone. */
  name: textOrNull(),
  /** Whom the operator writes to; never shown to customers. */
  email: textOrNull(),
  website: textOrNull(),
  support: textOrNull(),
  /** The ids of the ways to pay its customers are offered, as a JSON array; undefined where it is all of them. */
  methods: textOrNull(),
  /** `MerchantLimits` as JSON text; undefined where it has those of all. */
  limits: textOrNull(),
  created_at: integerOrNull(),
  /** `Particulars` as JSON text; null if there are none. */
  particulars: textOrNull(),
});
export type StoredMerchant = RowOf<typeof MERCHANTS>;

/** What a merchant's id, and so the subject of an entry about a merchant, begins with. */
export const MERCHANT_ID_PREFIX = 'mer_';

/** What was written at each change of its state, oldest first; nothing for a merchant without a row. */
export function changesOf(stored: StoredMerchant | undefined): StateChange[] {
  return stored?.changes ? (JSON.parse(stored.changes) as StateChange[]) : [];
}

/** Limits as a row keeps them; null if they are those of all. */
export const writtenLimits = (limits: MerchantLimits) =>
  Object.keys(limits).length === 0 ? null : JSON.stringify(limits);

/** A merchant of the store; nothing for one whose row is for its state alone. */
export function profileOf(stored: StoredMerchant): MerchantProfile | undefined {
  const { id, name, email, website, support, methods, limits, particulars } = stored;
  if (name === null) return undefined;
  return {
    id,
    name,
    email,
    website,
    support,
    ...(particulars !== null && { particulars: JSON.parse(particulars) as Particulars }),
    methods: methods === null ? null : (JSON.parse(methods) as string[]),
    limits: limits === null ? {} : (JSON.parse(limits) as MerchantLimits),
  };
}

/** The refusals of every request with a key that does not work. */
export const REFUSED_KEY = 'The API key is missing or invalid.';
export const SUSPENDED_MERCHANT = 'This merchant is suspended. Ask the operator of this service.';

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

/** How many of some keys work in a mode at `now`. */
export const workingIn = (keys: readonly KnownKey[], mode: Mode, now: number): number =>
  keys.filter((key) => key.mode === mode && !isInactive(key, now)).length;

/** Time for which an inactive key is still listed. */
export const LISTED_FOR_MS = 30 * DAY_MS;

/** For how long a form, sent again, shows again what it has made: after a second click, a reload. */
const SHOWN_AGAIN_MS = 10 * MINUTE_MS;

/** Whether the form that made a key or an invitation may show it once more at `now`. */
export function isShownAgain({ created_at }: { created_at: number }, now: number): boolean {
  return now < created_at + SHOWN_AGAIN_MS;
}

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
