// The keys of the store that a node keeps in memory: those that work, and of those that are over the ones it cannot do without.
import { LRUCache } from 'lru-cache';
import { isInactive, type StoredKey } from './stored-key.ts';

/**
 * How many keys that are over are remembered for a while: a row that was read before the end and arrives behind it must not
 * bring a key back.
 */
const REMEMBERED = 10_000;

export class KeptKeys {
  /** Whether a key stays although it is over, by its digest. */
  readonly #keepsInactive: (digest: string) => boolean;
  /** By their digests. */
  readonly #keys = new Map<string, StoredKey>();
  /** Those that are over, by their digests: the ones heard of last. */
  readonly #inactive = new LRUCache<string, StoredKey>({ max: REMEMBERED });
  /** The digests of each merchant's keys. */
  readonly #digests = new Map<string, Set<string>>();

  constructor(keepsInactive: (digest: string) => boolean) {
    this.#keepsInactive = keepsInactive;
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

  /** Takes a row, unless a newer one is known; gives the newest. */
  put(row: StoredKey): StoredKey {
    const { digest } = row;
    const known = this.#keys.get(digest) ?? this.#inactive.get(digest);
    if (known && known.version > row.version) return known;
    if (row.revoked_at === null || this.#keepsInactive(digest)) this.#keep(row);
    else this.#letGo(row);
    return row;
  }

  /** Keeps those again that are over and remembered, of `digests`. */
  recall(digests: Iterable<string>): void {
    for (const digest of digests) {
      const over = this.#inactive.get(digest);
      if (over) this.#keep(over);
    }
  }

  /** Lets those go that are over at `now`. */
  forgetInactive(now: number): void {
    for (const row of this.#keys.values())
      if (isInactive(row, now) && !this.#keepsInactive(row.digest)) this.#letGo(row);
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
