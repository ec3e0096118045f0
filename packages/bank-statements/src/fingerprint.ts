// Identifies lines, so that the same money in another file is found again.
import { sha256Of } from './digest.ts';
import type { Statement, StatementLine } from './statement.ts';
import { folded } from './values.ts';

/** What a reader gives: the line without what its place among the others decides. */
export type LineRead = Omit<StatementLine, 'position' | 'fingerprint'>;

/** Numbers lines and gives each its fingerprint. Lines that are alike in everything get different ones, in their order. */
export function numbered(
  { account, format }: Pick<Statement, 'account' | 'format'>,
  lines: readonly LineRead[],
): StatementLine[] {
  const seen = new Map<string, number>();
  return lines.map((line, position) => {
    const digest = digestOf(account.iban ?? account.other ?? '', line, format);
    const earlier = seen.get(digest) ?? 0;
    seen.set(digest, earlier + 1);
    return { position, ...line, fingerprint: `${digest}:${earlier}` };
  });
}

/**
 * By the bank's own reference of the entry, else by day and text. Banks repeat references in MT940, and numbers in OFX and CSV, so the
 * day counts there as well. Parts of one entry share its reference, so their text counts too.
 */
function digestOf(account: string, line: LineRead, format: Statement['format']): string {
  const { references, counterparty, partOf } = line;
  const reference = references.booking ?? references.bank;
  const day = line.bookingDay ?? line.valueDay ?? '';
  const text = [
    references.endToEnd ?? '',
    folded(line.text) ?? '',
    counterparty.name ?? '',
    counterparty.account ?? '',
  ];
  const rest = () => {
    if (reference !== undefined && format.startsWith('mt')) return [reference, line.valueDay ?? day];
    if (reference === undefined || !format.startsWith('camt')) return [reference ?? '', day, ...text];
    return partOf ? [reference, references.bank ?? '', ...text] : [reference];
  };
  const parts = [
    account,
    String(line.amountMinor),
    line.currency,
    line.direction,
    String(line.isReversal),
    ...rest(),
  ];
  return sha256Of(JSON.stringify(parts), 16);
}
