// The one place that tells which merchant a key belongs to: those of the configuration and those of the store, in memory.
import { LRUCache } from 'lru-cache';
import {
  type ApiKey,
  type Caller,
  DEVELOPMENT_KEY,
  isInactive,
  isWholeKey,
  type KnownKey,
  keyDigest,
  type Merchant,
  type MerchantProfile,
  type MerchantWithKeys,
  type Profile,
  profileOf,
  type StoredKey,
  type StoredMerchant,
} from './merchant.ts';
import { NamesInUse } from './names-in-use.ts';

const DEVELOPMENT_DIGEST = keyDigest(DEVELOPMENT_KEY);
const NO_PROFILE: Profile = { website: null, support: null };
/** What the configuration does not hold of a key. */
const UNTOLD = {
  name: null,
  last_four: null,
  made_by: null,
  created_at: null,
  replaced_by: null,
  revoked_at: null,
};

/** A merchant with its keys in memory. */
export interface KnownMerchant extends MerchantProfile {
  keys: readonly KnownKey[];
  /** Whether the configuration names it. */
  isConfigured: boolean;
}

interface KeptMerchant {
  version: number;
  isSuspended: boolean;
  /** Nothing for one whose row is for its state alone. */
  profile: MerchantProfile | undefined;
}

/**
 * Merchants and keys in memory. Those of the configuration are replaced as a whole when it is read again. Those of the store are put one
 * by one, in any order: a row never takes the place of a newer one. If both name a merchant or a key, the configuration alone counts, but
 * for the merchant's suspension. Inactive keys of the store are dropped.
 */
export class Directory {
  /** Whether every key makes test payments. */
  readonly testOnly: boolean;
  #configured = new Map<string, MerchantWithKeys>();
  /** By their digests. */
  #configuredKeys = new Map<string, KnownKey>();
  readonly #stored = new Map<string, KeptMerchant>();
  readonly #kept: KeptKeys;
  /** The ids of merchants and keys whose rows are not as the history left them. */
  readonly #distrusted = new Set<string>();
  /** Made when it is first asked for, and again when a merchant may have another name. */
  #names: NamesInUse | undefined;

  /** Whether inactive keys are kept. */
  readonly keepsOver: boolean;

  /** With `testOnly`, as in development, every key makes test payments. With `keepsOver` all keys are kept, to be listed. */
  constructor(
    merchants: readonly MerchantWithKeys[],
    { testOnly = false, keepsOver = false }: { testOnly?: boolean; keepsOver?: boolean } = {},
  ) {
    this.testOnly = testOnly;
    this.keepsOver = keepsOver;
    this.#kept = new KeptKeys(keepsOver);
    this.replace(merchants);
  }

  replace(merchants: readonly MerchantWithKeys[]): void {
    this.#configured = new Map(merchants.map((merchant) => [merchant.id, merchant]));
    this.#configuredKeys = new Map(
      merchants.flatMap(({ id, keys }) => keys.map((key) => [key.digest, this.#ofConfiguration(id, key)])),
    );
    this.#names = undefined;
  }

  #ofConfiguration(merchant_id: string, { id, digest, mode, expires_at, name = null }: ApiKey): KnownKey {
    const own = { id, digest, merchant_id, mode: this.testOnly ? ('test' as const) : mode, expires_at, name };
    return { ...UNTOLD, ...own, isConfigured: true };
  }

  putMerchant(row: StoredMerchant): void {
    const { id, version } = row;
    this.#distrusted.delete(id);
    if ((this.#stored.get(id)?.version ?? 0) > version) return;
    const before = this.#profile(id)?.name;
    this.#stored.set(id, { version, isSuspended: row.suspended_at !== null, profile: profileOf(row) });
    const profile = this.#profile(id);
    if (before !== undefined && before !== profile?.name) this.#names = undefined;
    else if (profile) this.#names?.put(profile);
  }

  /** Takes a key of the store as its row has it now. Returns what is known of the key, whether it is kept or not. */
  putKey(row: StoredKey): KnownKey {
    this.#distrusted.delete(row.id);
    this.#kept.put(row);
    return this.keyOf(row);
  }

  /** A key by its row, to be shown: as the configuration has it, or as it is known here if that is newer. */
  keyOf(row: StoredKey): KnownKey {
    return this.#configuredKeys.get(row.digest) ?? this.#ofStore(this.#kept.newest(row));
  }

  #ofStore(row: StoredKey): KnownKey {
    return { ...row, mode: this.testOnly ? 'test' : row.mode, isConfigured: false };
  }

  /** Lets a key in no more, and a merchant do no more than a suspended one, until its row is put again. */
  distrust(id: string): void {
    this.#distrusted.add(id);
  }

  forgetInactive(now: number): void {
    this.#kept.forgetInactive(now);
  }

  /** Whether a merchant is suspended, as far as this node has heard, or its row was changed in the store itself. */
  isSuspended(merchantId: string): boolean {
    return this.#stored.get(merchantId)?.isSuspended === true || this.#distrusted.has(merchantId);
  }

  get hasKeys(): boolean {
    return this.#configuredKeys.size > 0 || this.#kept.size > 0;
  }

  /** All merchants: the configuration's in its order, then the store's by their ids. */
  get merchants(): readonly Merchant[] {
    const others = [...this.#stored.values()].flatMap(({ profile }) =>
      profile && !this.#configured.has(profile.id) ? [profile] : [],
    );
    return [...this.#configured.values(), ...others.sort((one, other) => (one.id < other.id ? -1 : 1))];
  }

  /** The names of all merchants, by what they look like. */
  get names(): NamesInUse {
    this.#names ??= new NamesInUse(this.merchants);
    return this.#names;
  }

  /** Whether the store has the merchant, by more than its state. */
  isStored(id: string): boolean {
    return this.#stored.get(id)?.profile !== undefined;
  }

  /** The ids of those whose keys are kept and who left the configuration: their keys open nothing until they are back. */
  get leftIds(): string[] {
    return this.#kept.merchantIds.filter((id) => !this.#profile(id)).sort();
  }

  get count(): number {
    let count = this.#configured.size;
    for (const [id, { profile }] of this.#stored) if (profile && !this.#configured.has(id)) count++;
    return count;
  }

  /** A merchant with its keys: the configuration's first, then the store's by their age. */
  merchant(id: string): KnownMerchant | undefined {
    const configured = this.#configured.get(id);
    const known = this.#profile(id);
    return known && { ...known, isConfigured: configured !== undefined, keys: this.keysOf(id) };
  }

  /** The keys of a merchant that are kept: those of the configuration, then those of the store, oldest first. */
  keysOf(merchantId: string): KnownKey[] {
    const stored = [...this.#kept.digestsOf(merchantId)].filter(
      (digest) => !this.#configuredKeys.has(digest),
    );
    const keys = stored.map((digest) => this.#ofStore(this.#kept.get(digest)!));
    keys.sort((one, other) => one.created_at! - other.created_at!);
    return [...this.configuredKeysOf(merchantId), ...keys];
  }

  configuredKeysOf(merchantId: string): KnownKey[] {
    const keys = this.#configured.get(merchantId)?.keys ?? [];
    return keys.map(({ digest }) => this.#configuredKeys.get(digest)!);
  }

  /** The payment methods that a merchant chose. Undefined if there is no such merchant, null if it chose all. */
  methodsOf(merchantId: string): readonly string[] | null | undefined {
    return this.#profile(merchantId)?.methods;
  }

  /** What is known of a merchant, who may have left the configuration since. */
  profile(merchantId: string): Profile {
    return this.#profile(merchantId) ?? NO_PROFILE;
  }

  /** The email address of a merchant, if it is the operator's word: of the configuration, or set by a command. */
  confirmedEmail(merchantId: string): string | undefined {
    const { email, particulars } = this.profile(merchantId);
    const isConfirmed = this.#configured.has(merchantId) || particulars?.email_confirmed;
    return isConfirmed ? (email ?? undefined) : undefined;
  }

  #profile(merchantId: string): MerchantProfile | undefined {
    return this.#configured.get(merchantId) ?? this.#stored.get(merchantId)?.profile;
  }

  key(digest: string): KnownKey | undefined {
    const row = this.#kept.get(digest);
    return this.#configuredKeys.get(digest) ?? (row && this.#ofStore(row));
  }

  configuredKey(id: string): KnownKey | undefined {
    return this.#configuredKeys.values().find((key) => key.id === id);
  }

  get configuredIds(): string[] {
    return [...this.#configured.keys()];
  }

  /** Whether a key is known here for good, so that the store has nothing to say that `find` does not: ends only come nearer. */
  knows(key: string): boolean {
    const known = this.key(keyDigest(key));
    return (
      known !== undefined && this.#profile(known.merchant_id) !== undefined && !this.#isDistrusted(known)
    );
  }

  /** Whether the row of a key of the store is not as the history left it. */
  #isDistrusted({ id, isConfigured }: KnownKey): boolean {
    return !isConfigured && this.#distrusted.has(id);
  }

  /**
   * The caller that a key names, or nothing when it is unknown here, cut, mistyped, expired at `now` or revoked.
   * The look-up is by digest, so its time tells nothing about how much of a guess was right.
   */
  find(key: string, now: number): Caller | undefined {
    if (!isWholeKey(key)) return undefined;
    const caller = this.#callerOf(keyDigest(key));
    return caller && !isInactive(caller.key, now) ? caller : undefined;
  }

  #callerOf(digest: string): Caller | undefined {
    // The development key is public. It is active only if the configuration names it, whatever the store says; production refuses it.
    if (digest === DEVELOPMENT_DIGEST && !this.#configuredKeys.has(digest)) return undefined;
    const key = this.key(digest);
    const merchant = key && this.#profile(key.merchant_id);
    if (!merchant || key.revoked_at !== null || this.#isDistrusted(key)) return undefined;
    const { id, name, limits } = merchant;
    return { merchant: { id, name }, key, limits, actor: `merchant:${id}` };
  }
}

/**
 * How many inactive keys are remembered for a while: a row that was read before the key's end and arrives after it must not make the key
 * active again.
 */
const REMEMBERED = 10_000;

class KeptKeys {
  readonly #keepsOver: boolean;
  /** By their digests. */
  readonly #keys = new Map<string, StoredKey>();
  /** The keys that became inactive last, by their digests. Made with the first, because an LRU cache allocates all its room at once. */
  #inactive: LRUCache<string, StoredKey> | undefined;
  readonly #digests = new Map<string, Set<string>>();

  constructor(keepsOver: boolean) {
    this.#keepsOver = keepsOver;
  }

  get size(): number {
    return this.#keys.size;
  }

  get merchantIds(): string[] {
    return [...this.#digests.keys()];
  }

  get(digest: string): StoredKey | undefined {
    return this.#keys.get(digest);
  }

  digestsOf(merchantId: string): ReadonlySet<string> {
    return this.#digests.get(merchantId) ?? new Set();
  }

  /** Takes a row, unless a newer one is known. */
  put(row: StoredKey): void {
    if (this.newest(row) !== row) return;
    if (row.revoked_at === null || this.#keepsOver) this.#keep(row);
    else this.#letGo(row);
  }

  /** A row, or the newer one that is known. */
  newest(row: StoredKey): StoredKey {
    const known = this.#keys.get(row.digest) ?? this.#inactive?.get(row.digest);
    return known && known.version > row.version ? known : row;
  }

  /** Drops those that are inactive at `now`. */
  forgetInactive(now: number): void {
    if (this.#keepsOver) return;
    for (const row of this.#keys.values()) if (isInactive(row, now)) this.#letGo(row);
  }

  #keep(row: StoredKey): void {
    const { digest, merchant_id } = row;
    this.#inactive?.delete(digest);
    this.#keys.set(digest, row);
    const digests = this.#digests.get(merchant_id);
    if (digests) digests.add(digest);
    else this.#digests.set(merchant_id, new Set([digest]));
  }

  #letGo(row: StoredKey): void {
    const { digest, merchant_id } = row;
    this.#keys.delete(digest);
    const digests = this.#digests.get(merchant_id);
    digests?.delete(digest);
    if (digests?.size === 0) this.#digests.delete(merchant_id);
    this.#inactive ??= new LRUCache({ max: REMEMBERED });
    this.#inactive.set(digest, row);
  }
}
