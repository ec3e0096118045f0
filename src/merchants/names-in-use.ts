// The names of all merchants by what they look like, so that one who registers is not taken for another.
import { setImmediate } from 'node:timers/promises';
import { looksOf } from './look.ts';
import type { Merchant } from './merchant.ts';

/** Number of names that are processed before other work gets a turn, about 3 ms. */
const PIECE = 100;

/** Names of merchants, and those of registrations that are running. */
export class NamesInUse {
  /** The ids of merchants by the looks of their names. */
  readonly #ids = new Map<string, string[]>();
  readonly #claimed = new Set<string>();
  /** Resolves when the names of all merchants are read. */
  readonly #whole: Promise<void>;

  constructor(merchants: readonly Merchant[]) {
    this.#whole = this.#read(merchants);
  }

  async #read(merchants: readonly Merchant[]): Promise<void> {
    for (const [i, merchant] of merchants.entries()) {
      if (i % PIECE === 0) await setImmediate();
      this.put(merchant);
    }
  }

  put({ id, name }: Merchant): void {
    for (const look of looksOf(name)) {
      const ids = this.#ids.get(look);
      if (!ids) this.#ids.set(look, [id]);
      else if (!ids.includes(id)) ids.push(id);
    }
  }

  /** The ids of the merchants whose names look like `name`. */
  async idsLike(name: string): Promise<string[]> {
    await this.#whole;
    return [...new Set(looksOf(name).flatMap((look) => this.#ids.get(look) ?? []))];
  }

  /** Keeps a name for one who registers, until what is returned is called. Returns undefined if a name that looks like it is in use. */
  async claim(name: string): Promise<(() => void) | undefined> {
    await this.#whole;
    const looks = looksOf(name);
    if (looks.some((look) => this.#ids.has(look) || this.#claimed.has(look))) return undefined;
    for (const look of looks) this.#claimed.add(look);
    return () => {
      for (const look of looks) this.#claimed.delete(look);
    };
  }
}
