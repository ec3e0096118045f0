// The fact that the bank's statement shows the money of a payment.

import type { Payment } from '../../payments/payment.ts';
import type { Fact, WriteMoney } from '../../review/fact.ts';
import { arrivalsOf } from '../../review/review.ts';
import { dayInWords } from '../../review/told.ts';
import type { Reader } from '../../store/database.ts';
import type { KeptLine } from '../kept.ts';
import { isPart, linesOfPayments } from '../line-queries.ts';
import { bankLine } from './line-evidence.ts';

/** The lines of statements that were matched with a payment, what they come to, and what went back; undefined if there are none. */
export async function onStatement(
  database: Reader,
  payment: Payment,
  money: WriteMoney,
): Promise<Fact | undefined> {
  const { id, amount_minor, currency } = payment;
  const lines = await linesOfPayments(database, [id]);
  if (lines.length === 0) return undefined;
  const credits = lines.filter(({ direction }) => direction === 'credit');
  const debits = lines.filter(({ direction }) => direction === 'debit');
  const byHand = sumOf(arrivalsOf(payment).filter(({ line }) => line === undefined));
  const more = sumOf(credits) - sumOf(debits) - amount_minor;
  const whole = lines.find(isPart);
  const payers = [...new Set(credits.flatMap((line) => bankLine(line).counterparty.name ?? []))];
  const from = payers.length > 0 ? `, from ${payers.map((name) => `“${name}”`).join(', ')}` : '';
  const difference = `${money(Math.abs(more), currency)} ${more < 0 ? 'less' : 'more'} than was asked for`;
  const [arrived, back] = [
    credits.length > 0 &&
      `${money(sumOf(credits), currency)} stands on the bank statement of ${daysOf(credits)}${from}`,
    debits.length > 0 && `${money(sumOf(debits), currency)} went back on ${daysOf(debits)}`,
  ];
  // What was recorded by hand besides is a fact of its own.
  const compared = byHand > 0 ? '' : `: ${more === 0 ? 'exactly what was asked for' : difference}`;
  const due =
    more > 0 && byHand === 0 ? ` Return ${money(more, currency)} to ${returnedTo(credits.at(-1)!)}.` : '';
  return {
    kind: 'on_statement',
    tone: more === 0 && debits.length === 0 ? 'plain' : 'notice',
    text: `${[arrived, back].filter(Boolean).join(', and ')}${compared}.${due}`,
    basis: whole
      ? `An administrator matched a part of the line of ${money(whole.part_of_minor!, currency)} with this payment.`
      : 'An administrator matched the line of the statement with this payment.',
  };
}

const sumOf = (some: readonly { amount_minor: number }[]) =>
  some.reduce((sum, { amount_minor }) => sum + amount_minor, 0);

/** The days of lines, each once. */
const daysOf = (lines: readonly KeptLine[]) =>
  [...new Set(lines.map(({ day }) => (day === '' ? 'no day' : dayInWords(day))))].join(', ');

/** Whom to return money to, as the bank names the payer of a line. */
function returnedTo(line: KeptLine): string {
  const { name, account } = bankLine(line).counterparty;
  const named = [name && `“${name}”`, account].filter(Boolean).join(', ');
  return named === '' ? 'its payer' : named;
}
