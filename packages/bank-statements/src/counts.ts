// Counts what a file holds by another way than it is read, so that nothing is lost without a word.
import type { StatementFault } from './statement.ts';

/** A fault if a file holds more of something than was read or left out with a fault. */
export function countFault(what: string, held: number, read: number): StatementFault | undefined {
  if (held <= read) return undefined;
  return {
    line: 0,
    text: `The file holds ${held} ${what}, but ${read} were read: the others belong to no statement.`,
  };
}

/** Counts the start tags of an element in the text of an XML file, whatever its prefix. */
export class ElementCount {
  readonly #tag: RegExp;
  #count = 0;

  constructor(name: string) {
    this.#tag = new RegExp(`<(?:[\\w.-]+:)?${name}(?=[\\s/>])`, 'g');
  }

  /** The same pieces. They are counted on the way. */
  *over(pieces: Iterable<string>): Generator<string> {
    let begun = '';
    for (const piece of pieces) {
      const text = begun + piece;
      // A tag may be cut in two by the end of a piece.
      const open = text.lastIndexOf('<');
      const end = open >= 0 && !text.includes('>', open) ? open : text.length;
      begun = text.slice(end);
      this.#count += text.slice(0, end).match(this.#tag)?.length ?? 0;
      yield piece;
    }
  }

  /** The fault of `countFault`. Call it once all pieces were added. */
  fault(what: string, read: number): StatementFault | undefined {
    return countFault(what, this.#count, read);
  }
}
