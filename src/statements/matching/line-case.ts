// The odd cases of a bank line and the payment it may be for: each has its own sentence and its own act.
import { formatAmount } from '../../lib/money.ts';
import { DAY_MS } from '../../lib/time.ts';
import type { Payment } from '../../payments/payment.ts';
import type { BankLine } from './line-evidence.ts';

/** What is odd about a line and a payment; `exact` if nothing but how the line names the payment is. */
export type LineCase =
  | 'exact'
  | 'amount_only'
  | 'several'
  | 'ambiguous'
  | 'less'
  | 'more'
  | 'rest'
  | 'other_currency'
  | 'other_payer'
  | 'early'
  | 'expired'
  | 'cancelled'
  | 'parts'
  | 'two_lines'
  | 'twice'
  | 'unseen'
  | 'taken_back'
  | 'test'
  | 'rejected';

/** A case with its sentence and act. */
type Told = [kind: LineCase, sentence: string, act: string];

/** What speaks for a payment beside the amount, the strongest first: its transfer reference, another name of it, the payer, nothing. */
export type Evidence = 'whole' | 'corrected' | 'cut' | 'named' | 'payer' | 'none';

const COMPARE = 'Compare payer and text, and accept it if they fit.';
/** The case of an exact amount by what else speaks for the payment. */
const EXACT: Readonly<Record<Evidence, Told>> = {
  whole: ['exact', 'Nothing is odd about it.', 'Accept it.'],
  corrected: ['exact', 'One character of the reference is wrong.', COMPARE],
  cut: ['exact', 'The reference is cut.', COMPARE],
  named: ['exact', 'The transfer reference is missing, and the text names the payment.', COMPARE],
  payer: [
    'exact',
    'The reference is missing, and the payer fits.',
    'Accept it if no other payment of this payer is meant.',
  ],
  none: [
    'amount_only',
    'Only the amount speaks for it.',
    'Find out which payment is meant before you accept it.',
  ],
};

/** Other lines and payments that count. Amounts are hundredths of the line's currency. */
export interface Neighbours {
  /** Other lines that were matched with the payment: the newest day, and what they come to. */
  matched?: { day: string; minor: number } | undefined;
  /** The day of a debit or a reversal that carries the payment's reference. */
  takenBackOn?: string | undefined;
  /** Other open lines that carry the payment's reference, and what they come to. */
  rivals: { count: number; minor: number };
  /** How many payments the line names, this one among them. */
  named: number;
  /** Whether the amounts of these payments come to the line's. */
  together: boolean;
  /** Whether the payment is a test among live ones. */
  isTest: boolean;
}

const money = (minor: number, currency: string) => `${currency} ${formatAmount(minor)}`;

/**
 * What is odd about a line and a payment as it stands now. `isPayer` says whether the payer is who the customer announced; undefined if
 * there is nothing to compare.
 */
export function caseOf(
  line: BankLine,
  payment: Payment,
  by: { isPayer: boolean | undefined; evidence: Evidence },
  neighbours: Neighbours,
): Told {
  return (
    ofDecided(line, payment, neighbours) ??
    ofOthers(line, payment, neighbours) ??
    ofItself(line, payment, by.isPayer) ??
    EXACT[by.evidence]
  );
}

/** Cases of a payment that needs no money, or of money that is gone. */
function ofDecided(
  line: BankLine,
  payment: Payment,
  { matched, takenBackOn, isTest }: Neighbours,
): Told | undefined {
  const back = `Return ${money(line.amount_minor, line.currency)}, or`;
  if (payment.status === 'rejected')
    return ['rejected', 'The payment was rejected.', `${back} ask the merchant for a new payment.`];
  if (payment.status === 'approved' && !matched)
    return ['twice', 'The payment is approved already.', `${back} find out what it is for.`];
  if (matched && (payment.status === 'approved' || matched.minor >= payment.amount_minor))
    return [
      'twice',
      `A line of ${matched.day} is the money of this payment already.`,
      `${back} find out what it is for.`,
    ];
  if (takenBackOn !== undefined)
    return [
      'taken_back',
      `A line of ${takenBackOn} takes money out with the same reference.`,
      'Find out whether the money is still there.',
    ];
  if (isTest)
    return ['test', 'It is a test payment: no money is meant for it.', `${back} find out what it is for.`];
  return undefined;
}

/** Cases that follow from other lines and payments. */
function ofOthers(
  line: BankLine,
  payment: Payment,
  { matched, rivals, named, together }: Neighbours,
): Told | undefined {
  const { currency, amount_minor: asked } = payment;
  if (line.currency !== currency)
    return [
      'other_currency',
      `${money(line.amount_minor, line.currency)} arrived, ${money(asked, currency)} was asked for.`,
      'Find out what the bank credited, or return it.',
    ];
  if (rivals.count > 0 && (matched?.minor ?? 0) + rivals.minor + line.amount_minor === asked)
    return [
      'parts',
      'Other lines carry the same reference: together they come to what was asked for.',
      'Match each of them, then decide.',
    ];
  if (rivals.count > 0)
    return [
      'two_lines',
      'Another line carries the reference of this payment.',
      'Accept one of them, and return the other.',
    ];
  if (matched) return rest(matched, asked - matched.minor - line.amount_minor, currency);
  if (named > 1 && together)
    return [
      'several',
      `The transfer names ${named} payments, which come to its amount.`,
      'Match it with all of them.',
    ];
  if (named > 1)
    return [
      'ambiguous',
      `The transfer names ${named} payments, which do not come to its amount.`,
      'Find out which of them is meant.',
    ];
  return undefined;
}

/** The case of a line after others that paid a part. `missing` is what is still to come. */
function rest({ day }: { day: string }, missing: number, currency: string): Told {
  const gap = money(Math.abs(missing), currency);
  const before = `With the line of ${day} `;
  if (missing > 0)
    return ['rest', `${before}${gap} less arrived than was asked for.`, 'Keep it as received so far.'];
  if (missing < 0)
    return ['rest', `${before}${gap} more arrived than was asked for.`, `Accept it, and return ${gap}.`];
  return ['rest', `${before}it comes to what was asked for.`, 'Accept it as the rest.'];
}

/** Cases of a line and a payment alone. Undefined if the amount is exact and nothing else is odd. */
function ofItself(line: BankLine, payment: Payment, isPayer: boolean | undefined): Told | undefined {
  const difference = line.amount_minor - payment.amount_minor;
  const gap = money(Math.abs(difference), payment.currency);
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
  if (daysAfter(line, payment) < -1)
    return ['early', 'The money came before the payment was created.', 'Find out which payment is meant.'];
  if (isPayer === false)
    return [
      'other_payer',
      'The money comes from another payer than was announced.',
      'Look who paid, and accept it if that is right.',
    ];
  return undefined;
}

/** How many days after the creation of a payment a line came. NaN if the bank names no day. */
export function daysAfter(
  { day }: Pick<BankLine, 'day'>,
  { created_at }: Pick<Payment, 'created_at'>,
): number {
  return Math.floor((Date.parse(day) + DAY_MS - 1 - created_at) / DAY_MS);
}
