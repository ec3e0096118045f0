// A merchant, its API keys, and who calls with one.

import { isWholeSecret, sha256Hex } from '../lib/secrets.ts';
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

export interface MerchantWithKeys extends Merchant, Profile {
  keys: readonly ApiKey[];
  /** The ids of the ways to pay its customers are offered; undefined where it is all of them. */
  methods: readonly string[] | null;
  /** What it may do more or less of than others. */
  limits: MerchantLimits;
}

/** Requests in each mode in a second; what is not said is as for all. */
export interface MerchantLimits {
  writes_per_second?: number | undefined;
  reads_per_second?: number | undefined;
}
