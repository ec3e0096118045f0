// What is told of the lines of a statement that is never held as a whole: how many, their sums, the first one, and their digest.
import { createHash } from 'node:crypto';
import { type Overview, OverviewSums, type Statement, type StatementLine } from '#bank-statements';

export interface ToldLines {
  overview: Overview;
  /** The first line; undefined if there is none. */
  first: Pick<StatementLine, 'at' | 'currency'> | undefined;
  /** SHA-256 of what the lines say, in hexadecimal digits. */
  digest: string;
}

/** Lines of one statement, at most `LINES_AT_ONCE`. `place`: which statement of its file. */
export interface LinePart {
  place: number;
  lines: StatementLine[];
}

/** Reads the lines of a file once more, part by part. */
export type LineParts = () => AsyncIterable<LinePart> | Iterable<LinePart>;

/** Lines that one commit brings, so that others wait for a part of a second. */
export const LINES_AT_ONCE = 500;

/** Gathers what is told of lines, one by one. */
export class Telling {
  readonly #sums = new OverviewSums();
  readonly #hash = createHash('sha256');
  #first: ToldLines['first'];

  add(line: StatementLine): void {
    const { fingerprint, status, bookingDay, text, references, counterparty } = line;
    const said = [
      ...[fingerprint, status, bookingDay, text, references.endToEnd, references.creditor],
      ...[counterparty.name, counterparty.account],
    ];
    this.#sums.add(line);
    this.#hash.update(`${JSON.stringify(said)}\n`);
    this.#first ??= { at: line.at, currency: line.currency };
  }

  end(opening: Statement['opening']): ToldLines {
    return { overview: this.#sums.overview(opening), first: this.#first, digest: this.#hash.digest('hex') };
  }
}

/** Of a statement with all its lines. */
export function toldLines({ lines, opening }: Pick<Statement, 'lines' | 'opening'>): ToldLines {
  const telling = new Telling();
  for (const line of lines) telling.add(line);
  return telling.end(opening);
}

/** The lines of statements that hold them, in parts. */
export function* linePartsOf(
  statements: readonly { place: number; statement: Statement }[],
): Generator<LinePart> {
  for (const { place, statement } of statements)
    for (let from = 0; from < statement.lines.length; from += LINES_AT_ONCE)
      yield { place, lines: statement.lines.slice(from, from + LINES_AT_ONCE) };
}
