// The keys of the store that a node caches in memory: active ones, or all of them to be listed.
import { LRUCache } from 'lru-cache';
import { isInactive, type StoredKey } from './stored-key.ts';

/**
 * How many inactive keys are remembered for a while: a row that was read before the key's end and arrives after it must not make the key
 * active again.
 */
const REMEMBERED = 10_000;

export class KeptKeys {
  /** Whether inactive keys are kept. */
  readonly #keepsOver: boolean;
  /** By their digests. */
  readonly #keys = new Map<string, StoredKey>();
  /** Inactive ones by their digests, the most recent. */
  readonly #inactive = new LRUCache<string, StoredKey>({ max: REMEMBERED });
  /** The digests of each merchant's keys. */
  readonly #digests = new Map<string, Set<string>>();

  constructor(keepsOver: boolean) {
    this.#keepsOver = keepsOver;
  }

  /** How many are kept. */
  get size(): number {
    return this.#keys.size;
  }

  /** A key that is kept, by its digest. */
  get(digest: string): StoredKey | undefined {
    return this.#keys.get(digest);
  }

  /** The digests of the keys that are kept of a merchant. */
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
    const known = this.#keys.get(row.digest) ?? this.#inactive.get(row.digest);
    return known && known.version > row.version ? known : row;
  }

  /** Drops those that are inactive at `now`. */
  forgetInactive(now: number): void {
    if (this.#keepsOver) return;
    for (const row of this.#keys.values()) if (isInactive(row, now)) this.#letGo(row);
  }

  #keep(row: StoredKey): void {
    const { digest, merchant_id } = row;
    this.#inactive.delete(digest);
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
    this.#inactive.set(digest, row);
  }
}
