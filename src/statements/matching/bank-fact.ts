// The fact that the bank's statement shows the money of a payment.

import type { Payment } from '../../payments/payment.ts';
import type { Fact, WriteMoney } from '../../review/fact.ts';
import { dayInWords } from '../../review/told.ts';
import type { Reader } from '../../store/database.ts';
import type { KeptLine } from '../kept.ts';
import { isPart, linesOfPayments } from '../line-queries.ts';
import { bankLine } from './line-evidence.ts';

/** The lines of statements that were matched with a payment, and what they come to; undefined if there are none. */
export async function onStatement(
  database: Reader,
  { id, amount_minor, currency }: Payment,
  money: WriteMoney,
): Promise<Fact | undefined> {
  const lines = await linesOfPayments(database, [id]);
  if (lines.length === 0) return undefined;
  const sum = lines.reduce((all, line) => all + line.amount_minor, 0);
  const more = sum - amount_minor;
  const whole = lines.find(isPart);
  const days = lines.map(({ day }) => (day === '' ? 'no day' : dayInWords(day))).join(', ');
  const payers = [...new Set(lines.flatMap((line) => bankLine(line).counterparty.name ?? []))];
  const from = payers.length > 0 ? `, from ${payers.map((name) => `“${name}”`).join(', ')}` : '';
  const difference = `${money(Math.abs(more), currency)} ${more < 0 ? 'less' : 'more'} than was asked for`;
  const back = more > 0 ? ` Return ${money(more, currency)} to ${returnedTo(lines.at(-1)!)}.` : '';
  return {
    kind: 'on_statement',
    tone: more === 0 ? 'plain' : 'notice',
    text: `${money(sum, currency)} stands on the bank statement of ${days}${from}: ${more === 0 ? 'exactly what was asked for' : difference}.${back}`,
    basis: whole
      ? `An administrator matched a part of the line of ${money(whole.part_of_minor!, currency)} with this payment.`
      : 'An administrator matched the line of the statement with this payment.',
  };
}

/** Whom to return money to, as the bank names the payer of a line. */
function returnedTo(line: KeptLine): string {
  const { name, account } = bankLine(line).counterparty;
  const named = [name && `“${name}”`, account].filter(Boolean).join(', ');
  return named === '' ? 'its payer' : named;
}
