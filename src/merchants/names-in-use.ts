// The names of all merchants by what they look like, so that one who registers is not taken for another.
import { looksOf } from './look.ts';
import type { Merchant } from './merchant.ts';

/** Names of merchants, and those that somebody registers with just now. */
export class NamesInUse {
  /** The ids of merchants by the looks of their names. */
  readonly #ids = new Map<string, string[]>();
  readonly #claimed = new Set<string>();

  constructor(merchants: Iterable<Merchant>) {
    for (const merchant of merchants) this.put(merchant);
  }

  put({ id, name }: Merchant): void {
    for (const look of looksOf(name)) {
      const ids = this.#ids.get(look);
      if (!ids) this.#ids.set(look, [id]);
      else if (!ids.includes(id)) ids.push(id);
    }
  }

  /** The ids of the merchants whose names look like `name`. */
  idsLike(name: string): string[] {
    return [...new Set(looksOf(name).flatMap((look) => this.#ids.get(look) ?? []))];
  }

  /** Keeps a name for one who registers, until what is returned is called. Nothing where a name that looks like it is in use. */
  claim(name: string): (() => void) | undefined {
    const looks = looksOf(name);
    if (looks.some((look) => this.#ids.has(look) || this.#claimed.has(look))) return undefined;
    for (const look of looks) this.#claimed.add(look);
    return () => {
      for (const look of looks) this.#claimed.delete(look);
    };
  }
}
