// The names of all merchants by what they look like, so that one who registers is not taken for another.

import { setImmediate } from 'node:timers/promises';
import { confusablesMap } from 'confusables';
import unhomoglyph from 'unhomoglyph';
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

/** Spaces, punctuation and what is not drawn: a name with them is taken for the name without. */
const UNREAD = /[^\p{L}\p{N}\p{M}\p{S}]|\p{Default_Ignorable_Code_Point}/gu;

/**
 * The looks of a name: two names look alike if they share one. The case is folded before or after the skeleton, since "І" and "l" look
 * alike in capitals alone, and "в" and "В" are one letter. "i" and "l" count as one, as fonts draw "ı", "І" and "l" alike.
 */
function looksOf(name: string): readonly string[] {
  const text = name.normalize('NFKC');
  const asWritten = skeleton(foldedCase(text));
  const asDrawn = skeleton(foldedCase(skeleton(text)));
  return [...new Set([asWritten, asDrawn].map((look) => look.replaceAll('i', 'l')))];
}

/** Whether people may take one name for the other. */
export function lookAlike(one: string, other: string): boolean {
  const looks = looksOf(other);
  return looksOf(one).some((look) => looks.includes(look));
}

const foldedCase = (text: string) => text.toUpperCase().toLowerCase().normalize('NFKC');

/** What is left of each character that was met. */
const drawn = new Map<string, string>();

/** The skeleton of UTS #39, without what is not read. `confusables` knows the letter forms that #39 does not list, as small capitals. */
function skeleton(text: string): string {
  let all = '';
  for (const character of text.normalize('NFD')) {
    let left = drawn.get(character);
    if (left === undefined) {
      left = unhomoglyph(confusablesMap.get(character) ?? character).replace(UNREAD, '');
      drawn.set(character, left);
    }
    all += left;
  }
  return all.normalize('NFD');
}
