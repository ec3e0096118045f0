// A bank statement in words for a terminal: its account, days, sums and balances.
import {
  type Balance,
  type Overview,
  overviewOf,
  type Statement,
  type StatementLine,
  signedAmount,
} from '#bank-statements';
import { dayInWords, daysInWords } from '../../review/told.ts';
import { columns } from './terminal.ts';

/** A statement with its sums, and of CSV the first, last and largest line. */
export function statementText(statement: Statement, overview: Overview = overviewOf(statement)): string {
  const { file, format, account, number, from, to, opening, closing } = statement;
  const { lines, pending, creditMinor, debitMinor, reachedMinor, shown } = overview;
  const balance = (one: Balance | undefined) =>
    one ? `${signedAmount(one.minor)} ${one.currency}` : 'not named';
  const name = [account.iban ?? account.other ?? 'not named: give --account to import it', account.currency];
  return columns([
    [file, `${format}${number === undefined ? '' : `, number ${number}`}`],
    ['  account', name.filter(Boolean).join(', ')],
    ['  days', daysInWords(from, to) || 'not named'],
    ['  lines', lines === 0 ? 'none' : `${lines}${pending > 0 ? `, ${pending} of them pending` : ''}`],
    ['  credits', signedAmount(creditMinor)],
    ['  debits', signedAmount(debitMinor)],
    ['  opening', balance(opening)],
    ['  closing', balance(closing)],
    ...(format === 'csv'
      ? [...reached(reachedMinor), ...shown.map(({ what, line }) => [`  ${what}`, lineText(line)])]
      : []),
  ]);
}

const reached = (minor: bigint | undefined) =>
  minor === undefined
    ? []
    : [['  by the lines', `${signedAmount(minor)}, which the opening balance and the lines come to`]];

function lineText({
  at,
  bookingDay,
  valueDay,
  direction,
  amountMinor,
  currency,
  counterparty,
  text,
}: StatementLine): string {
  const amount = signedAmount(direction === 'debit' ? -amountMinor : amountMinor);
  const words = [counterparty.name, text.replaceAll('\n', ' ')].filter(Boolean).join(': ');
  const day = bookingDay ?? valueDay;
  return `line ${at}: ${day === undefined ? 'no day' : dayInWords(day)}  ${amount} ${currency}  ${words.slice(0, 60)}`;
}
