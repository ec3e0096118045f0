// Identifies lines, so that the same money in another file is found again.
import { DigestCounts, sha256Of } from './digest.ts';
import type { Statement, StatementLine } from './statement.ts';
import { folded } from './values.ts';

/** What a reader gives: the line without what its place among the others decides. */
export type LineRead = Omit<StatementLine, 'position' | 'fingerprint'>;

/** Numbers lines of a statement and gives each its fingerprint. Lines alike in everything get different ones, in their order. */
export class LineNumbering {
  readonly #account: string;
  readonly #format: Statement['format'];
  readonly #seen = new DigestCounts();
  #position = 0;

  constructor({ account, format }: Pick<Statement, 'account' | 'format'>) {
    this.#account = account.iban ?? account.other ?? '';
    this.#format = format;
  }

  /** Completes the line. */
  next(line: LineRead): StatementLine {
    const digest = digestOf(this.#account, line, this.#format);
    const whole = line as StatementLine;
    whole.position = this.#position++;
    whole.fingerprint = `${digest}:${this.#seen.add(digest)}`;
    return whole;
  }
}

/** All lines of a statement as `LineNumbering` gives them. */
export function numbered(
  statement: Pick<Statement, 'account' | 'format'>,
  lines: readonly LineRead[],
): StatementLine[] {
  const numbering = new LineNumbering(statement);
  return lines.map((line) => numbering.next({ ...line }));
}

/**
 * By the bank's own reference of the entry, else by day and text. Banks repeat references in MT940, and numbers in OFX and CSV, so the
 * day counts there as well. Parts of one entry share its reference, so their text counts too.
 */
function digestOf(account: string, line: LineRead, format: Statement['format']): string {
  const { references, counterparty, partOf, currency, direction, isReversal } = line;
  const reference = references.booking ?? references.bank;
  const day = line.bookingDay ?? line.valueDay ?? '';
  const { name = '', account: theirs = '' } = counterparty;
  const said = () =>
    `${json(references.endToEnd ?? '')},${json(folded(line.text) ?? '')},${json(name)},${json(theirs)}`;
  const rest = () => {
    if (reference !== undefined && format.startsWith('mt'))
      return `${json(reference)},${json(line.valueDay ?? day)}`;
    if (reference === undefined || !format.startsWith('camt'))
      return `${json(reference ?? '')},${json(day)},${said()}`;
    return partOf ? `${json(reference)},${json(references.bank ?? '')},${said()}` : json(reference);
  };
  const text = `[${json(account)},"${line.amountMinor}",${json(currency)},"${direction}","${isReversal}",${rest()}]`;
  return sha256Of(text, 16);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const ESCAPED = /["\\\0-\x1f\x7f-\x9f\ud800-\udfff]/;

/** The text as `JSON.stringify` writes it, in a third of the time. */
const json = (text: string) => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);
