// The odd cases of a bank line and the payment it may be for: each has its own sentence and its own act.
import { formatAmount } from '../lib/money.ts';
import type { Payment } from '../payments/payment.ts';
import type { BankLine } from './line-evidence.ts';

/** What is odd about a line and a payment; `exact` if nothing is. */
export type LineCase =
  | 'exact'
  | 'several'
  | 'less'
  | 'more'
  | 'other_currency'
  | 'other_payer'
  | 'expired'
  | 'cancelled'
  | 'two_lines'
  | 'twice'
  | 'rejected';

/** Other lines and payments that count. */
export interface Neighbours {
  /** Another line has been matched with the payment: its day. */
  matchedOn?: string | undefined;
  /** Other open lines that carry the payment's reference. */
  rivals: number;
  /** How many payments the line names, if their amounts come to the line's. */
  together: number;
}

const money = (minor: number, currency: string) => `${currency} ${formatAmount(minor)}`;

/**
 * What is odd about a line and a payment as it stands now, in a sentence, and what to do. `isPayer` says whether the payer is who was
 * announced; undefined if there is nothing to compare.
 */
export function caseOf(
  line: BankLine,
  payment: Payment,
  isPayer: boolean | undefined,
  { matchedOn, rivals, together }: Neighbours,
): [kind: LineCase, sentence: string, act: string] {
  const difference = line.amount_minor - payment.amount_minor;
  const arrived = money(line.amount_minor, line.currency);
  const asked = money(payment.amount_minor, payment.currency);
  const gap = money(Math.abs(difference), payment.currency);
  if (matchedOn !== undefined)
    return [
      'twice',
      `A line of ${matchedOn} is the money of this payment already.`,
      `Return ${arrived}, or find out what it is for.`,
    ];
  if (payment.status === 'approved')
    return ['twice', 'The payment is approved already.', `Return ${arrived}, or find out what it is for.`];
  if (payment.status === 'rejected')
    return [
      'rejected',
      'The payment was rejected.',
      `Return ${arrived}, or ask the merchant for a new payment.`,
    ];
  if (rivals > 0)
    return [
      'two_lines',
      'Another line carries the same reference.',
      'Accept one of them, and return the other.',
    ];
  if (line.currency !== payment.currency)
    return [
      'other_currency',
      `${arrived} arrived, ${asked} was asked for.`,
      'Find out what the bank credited, or return it.',
    ];
  if (together > 1)
    return [
      'several',
      `The transfer names ${together} payments, which come to its amount.`,
      'Record its part on the page of each payment, then ignore the line with a reason.',
    ];
  if (difference < 0 && line.chargesMinor === -difference)
    return [
      'less',
      `${gap} less arrived than was asked for: the bank took them as charges.`,
      `Accept it as paid, difference ${gap}.`,
    ];
  if (difference < 0)
    return [
      'less',
      `${gap} less arrived than was asked for.`,
      'Keep it as received so far, or accept the difference with a reason.',
    ];
  if (difference > 0)
    return ['more', `${gap} more arrived than was asked for.`, `Accept it, and return ${gap}.`];
  if (payment.status === 'cancelled' && payment.status_reason === 'expired')
    return ['expired', 'The money came after the link had expired.', 'Record it, and decide.'];
  if (payment.status === 'cancelled')
    return ['cancelled', 'The payment was cancelled.', 'Record the money and decide, or return it.'];
  if (isPayer === false && payment.payer_account !== null)
    return [
      'other_payer',
      'The money comes from another payer than was announced.',
      'Look who paid, and accept it if that is right.',
    ];
  return ['exact', 'Nothing is odd about it.', 'Accept it.'];
}
