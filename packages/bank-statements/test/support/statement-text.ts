// Statements as a person would write them down: what the corpus holds beside its files, one row for each line.
import { signedAmount } from '../../src/balance.ts';
import type { ReadStatements } from '../../src/read.ts';
import type { Statement, StatementLine } from '../../src/statement.ts';

/** Everything that was read, without positions and fingerprints. */
export function statementText({ statements, faults, notes = [] }: ReadStatements): string {
  return [
    ...statements.flatMap(statementRows),
    ...faults.map(({ line, text }) => `fault @${line} ${text}`),
    ...notes.map(({ file, text }) => `note ${file} ${text}`),
    '',
  ].join('\n');
}

function statementRows({
  format,
  account,
  number,
  from,
  to,
  opening,
  closing,
  lines,
  faults,
  notes = [],
}: Statement): string[] {
  const days = from === undefined && to === undefined ? 'none' : `${from ?? ''}..${to ?? ''}`;
  const head = [
    ...[format, account.iban ?? account.other ?? '-', account.currency ?? '-'],
    ...(number === undefined ? [] : [`number ${number}`]),
    days,
    ...(opening ? [`opening ${signedAmount(opening.minor)}`] : []),
    ...(closing ? [`closing ${signedAmount(closing.minor)}`] : []),
  ];
  return [
    head.join(' '),
    ...lines.map(lineRow),
    ...faults.map(({ line, text }) => `fault @${line} ${text}`),
    ...notes.map(({ line, text }) => `note @${line} ${text}`),
  ];
}

function lineRow(line: StatementLine): string {
  const { at, bookingDay, valueDay, direction, amountMinor, currency, status, isReversal, partOf } = line;
  const amount = `${direction === 'credit' ? '+' : '-'}${signedAmount(amountMinor)} ${currency}`;
  const references = Object.entries(line.references).map(([name, value]) => `${name}=${value}`);
  return [
    `@${at} ${bookingDay ?? '-'}/${valueDay ?? '-'} ${amount} ${status}${isReversal ? ' reversal' : ''}`,
    line.counterparty.name ?? '-',
    line.counterparty.account ?? '-',
    line.text.replaceAll('\n', '⏎') || '-',
    references.join(' ') || '-',
    line.code ?? '-',
    ...(line.chargesMinor === undefined ? [] : [`charges ${signedAmount(line.chargesMinor)}`]),
    ...(partOf ? [`part of ${signedAmount(partOf.minor)} in ${partOf.lines}`] : []),
  ].join(' | ');
}
