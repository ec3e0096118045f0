// A merchant, and the one place that tells which merchant a key belongs to.
import { isWholeSecret, sha256Hex } from '../lib/secrets.ts';

export type Mode = 'live' | 'test';

/** Whoever creates payments. `name` is the business name that checkout shows. */
export interface Merchant {
  id: string;
  name: string;
}

/** A key as it is kept: never the key itself. `expires_at` in milliseconds since 1970. */
export interface ApiKey {
  id: string;
  digest: string;
  mode: Mode;
  expires_at: number | null;
}

/** Who is asking: a merchant, by one of its keys, in that key's mode. */
export interface Caller {
  merchant: Merchant;
  key: ApiKey;
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
  /** The merchant's own site; nothing where unknown. */
  website: string | null;
  /** Where customers get help: an e-mail address, a phone number or a web address. */
  support: string | null;
}

export interface MerchantWithKeys extends Merchant, Profile {
  keys: readonly ApiKey[];
  /** The ids of the ways to pay its customers are offered; nothing where it is all of them. */
  methods: readonly string[] | null;
  /** What it may do more or less of than others. */
  limits: MerchantLimits;
}

/** Requests for each key in a second; what is not said is as for all. */
export interface MerchantLimits {
  writes_per_second?: number | undefined;
  reads_per_second?: number | undefined;
}

const NO_PROFILE: Profile = { website: null, support: null };

/** Merchants and keys as they stand now; replaced whole when the configuration is read again. */
export class Directory {
  #callers = new Map<string, Caller>();
  #merchants = new Map<string, MerchantWithKeys>();
  #suspended: ReadonlySet<string> = new Set();

  constructor(merchants: readonly MerchantWithKeys[]) {
    this.replace(merchants);
  }

  /** How many keys there are. */
  get size(): number {
    return this.#callers.size;
  }

  replace(merchants: readonly MerchantWithKeys[]): void {
    const callers = new Map<string, Caller>();
    for (const { id, name, keys } of merchants) {
      for (const key of keys)
        callers.set(key.digest, { merchant: { id, name }, key, actor: `merchant:${id}` });
    }
    this.#callers = callers;
    this.#merchants = new Map(merchants.map((merchant) => [merchant.id, merchant]));
  }

  /** All merchants, in the order of the configuration. */
  get merchants(): readonly MerchantWithKeys[] {
    return [...this.#merchants.values()];
  }

  /** A merchant of the configuration. */
  merchant(id: string): MerchantWithKeys | undefined {
    return this.#merchants.get(id);
  }

  /** Puts `ids` in place of the merchants that are suspended, whether the configuration names them or not. */
  suspend(ids: readonly string[]): void {
    this.#suspended = new Set(ids);
  }

  /** Whether a merchant is suspended, as far as this node has heard. */
  isSuspended(merchantId: string): boolean {
    return this.#suspended.has(merchantId);
  }

  /** What is known of a merchant, who may have left the configuration since. */
  profile(merchantId: string): Profile {
    return this.#merchants.get(merchantId) ?? NO_PROFILE;
  }

  /**
   * The caller that a key names, or nothing when it is unknown, cut, mistyped or expired at `now`.
   * The look-up is by digest, so its time tells nothing about how much of a guess was right.
   */
  find(key: string, now: number): Caller | undefined {
    if (!isWholeKey(key)) return undefined;
    const caller = this.#callers.get(keyDigest(key));
    return caller && (caller.key.expires_at === null || now < caller.key.expires_at) ? caller : undefined;
  }
}
