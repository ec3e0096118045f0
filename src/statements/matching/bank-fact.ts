// The fact that the bank's statement shows the money of a payment.

import { ENGLISH, type Say } from '../../lib/phrases.ts';
import { type Payment, sumMinor } from '../../payments/payment.ts';
import type { Fact, SeenLine, WriteMoney } from '../../review/facts.ts';
import { arrivalsOf, sumOf } from '../../review/review.ts';
import { dayInWords } from '../../review/told.ts';
import type { Reader } from '../../store/database.ts';
import { exactMinor, type KeptLine } from '../kept.ts';
import { isPart, linesOfPayments } from '../line-queries.ts';
import { bankLine } from './line-evidence.ts';

/** The lines of statements that were matched with a payment, what they come to, and what went back; undefined if there are none. */
export async function onStatement(
  database: Reader,
  payment: Payment,
  money: WriteMoney,
  say: Say = ENGLISH,
): Promise<Fact | undefined> {
  const { id, amount_minor, currency } = payment;
  const lines = (await linesOfPayments(database, [id])).map((row) => ({
    ...row,
    amount_minor: exactMinor(row),
  }));
  if (lines.length === 0) return undefined;
  const credits = lines.filter(({ direction }) => direction === 'credit');
  const debits = lines.filter(({ direction }) => direction === 'debit');
  const byHand = sumOf(arrivalsOf(payment).filter(({ line }) => line === undefined));
  const more = sumMinor([Math.max(0, sumMinor([sumOf(credits), -sumOf(debits)])), -amount_minor]);
  const whole = lines.find(isPart);
  const payers = [...new Set(credits.flatMap((line) => bankLine(line).counterparty.name ?? []))];
  const from = payers.map((name) => `“${name}”`).join(', ');
  const [arrived, back] = [money(sumOf(credits), currency), money(sumOf(debits), currency)];
  const days = daysOf(credits, say);
  const parts = [
    credits.length > 0 &&
      (from === ''
        ? say`${arrived} stands on the bank statement of ${days}`
        : say`${arrived} stands on the bank statement of ${days}, from ${from}`),
    debits.length > 0 && say`${back} went back on ${daysOf(debits, say)}`,
  ];
  const difference = money(Math.abs(more), currency);
  // What was recorded by hand besides is a fact of its own, and what went back alone tells nothing of what arrived.
  const compared =
    byHand > 0 || credits.length === 0
      ? ''
      : more === 0
        ? `: ${say`exactly what was asked for`}`
        : `: ${more < 0 ? say`${difference} less than was asked for` : say`${difference} more than was asked for`}`;
  const kept = Math.max(0, sumMinor([more, amount_minor]));
  const surplus = payment.status === 'rejected' ? kept : byHand === 0 ? Math.max(0, more) : 0;
  const due =
    surplus > 0 ? ` ${say`Return ${money(surplus, currency)} to ${returnedTo(credits.at(-1)!, say)}.`}` : '';
  return {
    kind: 'on_statement',
    tone: more === 0 && debits.length === 0 && surplus === 0 ? 'plain' : 'notice',
    text: `${parts.filter(Boolean).join(`, ${say`and`} `)}${compared}.${due}`,
    basis: whole
      ? say`An administrator matched a part of the line of ${money(whole.part_of_minor!, currency)} with this payment.`
      : say`An administrator matched the line of the statement with this payment.`,
  };
}

/** The days of lines, each once. */
const daysOf = (lines: readonly KeptLine[], say: Say) =>
  [...new Set(lines.map(({ day }) => (day === '' ? say`no day` : dayInWords(day, say))))].join(', ');

/** Whom to return money to, as the bank names the payer of a line. */
function returnedTo(line: KeptLine, say: Say): string {
  const { name, account } = bankLine(line).counterparty;
  const named = [name && `“${name}”`, account].filter(Boolean).join(', ');
  return named === '' ? say`its payer` : named;
}

/** The lines of a payment as they are held beside what was asked for and what the customer said. */
export async function seenOnStatement(database: Reader, paymentId: string): Promise<SeenLine[]> {
  const lines = await linesOfPayments(database, [paymentId]);
  return lines.map((line) => {
    const { references, text, counterparty } = bankLine(line);
    const { id, direction, day } = line;
    const amount_minor = exactMinor(line);
    const reference = references.creditor ?? text;
    const { name, account } = counterparty;
    return {
      id,
      amount_minor: direction === 'debit' ? -amount_minor : amount_minor,
      day,
      reference,
      name,
      account,
    };
  });
}
