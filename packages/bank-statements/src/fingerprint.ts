// Identifies lines, so that the same money in another file is found again.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Statement, StatementLine } from './statement.ts';
import { folded } from './values.ts';

/** What a reader gives: the line without what its place among the others decides. */
export type LineRead = Omit<StatementLine, 'position' | 'fingerprint'>;

/** Numbers lines of a statement and gives each its fingerprint. Lines alike in everything get different ones, in their order. */
export class LineNumbering {
  readonly #account: string;
  readonly #format: Statement['format'];
  /** How often each digest was seen. */
  readonly #seen = new Map<string, number>();
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
    const before = this.#seen.get(digest) ?? 0;
    this.#seen.set(digest, before + 1);
    whole.fingerprint = `${digest}:${before}`;
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
  const said = [references.endToEnd ?? '', folded(line.text) ?? '', name, theirs];
  const rest = () => {
    if (reference !== undefined && format.startsWith('mt')) return [reference, line.valueDay ?? day];
    if (reference === undefined || !format.startsWith('camt')) return [reference ?? '', day, ...said];
    return partOf ? [reference, references.bank ?? '', ...said] : [reference];
  };
  const told = [account, String(line.amountMinor), currency, direction, String(isReversal), ...rest()];
  return sha256Of(JSON.stringify(told), 16);
}

interface NodeCrypto {
  hash?(algorithm: string, text: string, encoding: 'hex'): string;
}
type Builtins = { process?: { getBuiltinModule?(name: string): NodeCrypto | undefined } };

/** Node's own SHA-256 is nine times as fast as one in JavaScript. Browsers have no synchronous one. */
const native = (globalThis as Builtins).process?.getBuiltinModule?.('node:crypto')?.hash;

/** The first bytes of the SHA-256 (FIPS 180-4) of UTF-8 text, in hexadecimal digits. */
export function sha256Of(text: string, bytes: number): string {
  if (native) return native('sha256', text, 'hex').slice(0, 2 * bytes);
  return bytesToHex(sha256(utf8ToBytes(text)).subarray(0, bytes));
}
