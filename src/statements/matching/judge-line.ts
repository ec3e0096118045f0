// Judges one payment for one bank line: finds its cell of the matrix, and fills in what the row says.

import { type Calendar, placeOfDay } from '../../lib/bank-days.ts';
import { ENGLISH, type Say, type Sentence } from '../../lib/phrases.ts';
import { searchedReference } from '../../lib/search-terms.ts';
import { dateIn } from '../../lib/time.ts';
import { creditorReference } from '../../payments/methods/transfer/creditor-reference.ts';
import { asOf, type Payment, sumMinor } from '../../payments/payment.ts';
import { plainMoney, type WriteMoney } from '../../review/facts.ts';
import {
  arrivalsOf,
  type HandMoney,
  handMoneyOf,
  lacksMoney,
  mayComeAgain,
  receivedSoFar,
  returnedSoFar,
  sumOf,
} from '../../review/review.ts';
import { dayInWords } from '../../review/told.ts';
import type { BankLine, TakenBack } from './line-evidence.ts';
import {
  announced,
  dayFact,
  fact,
  type LineFact,
  type Naming,
  namedFact,
  payerFact,
  referenceFact,
  verbatim,
  type Worded,
} from './line-facts.ts';
import { type Judgement, type LineCase, rowOf } from './matrix.ts';
import { BACK_BY, type MatrixCell, OUT_BY } from './matrix-words.ts';

/** The levels of docs/matching.md: `likely` and `possible` want a look. */
export const MATCH_LEVELS = ['certain', 'likely', 'possible'] as const;
type MatchLevel = (typeof MATCH_LEVELS)[number];

/** What is said of a line and a payment. */
interface Told {
  /** What is odd, or that nothing is. */
  sentence: string;
  /** What to do. */
  act: string;
  /** Why, the strongest first. */
  facts: LineFact[];
}

/** With what is said of it in English. */
export interface Proposal extends Told {
  payment: Payment;
  level: MatchLevel;
  case: LineCase;
  /** The same in another language, and with amounts as `money` writes them. */
  said(say: Say, money: WriteMoney): Told;
  /** What the button on the line's page does. */
  button: Judgement['button'];
  /** Money by hand that the line may show; undefined if there is none of its reference or amount. */
  hand: (HandMoney & { is: 'same' | 'like' }) | undefined;
}

/** What is known around a line and a payment: other lines and payments, the time, and how its days are counted. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  now: number;
  timeZone: string;
  calendar: Calendar;
  /** A debit or a reversal that takes the payment's or the line's money back. */
  takenBack: TakenBack | undefined;
  /** Other open lines that carry the payment's reference. */
  rivals: readonly BankLine[];
  /** How many payments the line names, this one among them. */
  named: number;
  /** Whether the amounts of these payments come to the line's, or to that and the bank's charges. */
  together: 'exact' | 'charges' | undefined;
  /** Whether the payment is a test among live ones. */
  isTest: boolean;
  /** The day up to which open lines were not read; undefined if all were. */
  unseen: string | undefined;
}

/** A line, a payment that it may be for, and the cell of the matrix that they are. */
export interface Pair {
  line: BankLine;
  payment: Payment;
  cell: MatrixCell;
  /** What fills the sentences of the matrix. */
  values: Readonly<Record<string, Worded>>;
  hand: Proposal['hand'];
  facts: LineFact<Worded>[];
}

const money =
  (minor: number, currency: string): Worded =>
  (_, write) =>
    write(minor, currency);
const onDay =
  (day: string): Sentence =>
  (say) =>
    day === '' ? say`no day` : dayInWords(day, say);

/** The cell of a payment that a line may be for. Undefined if nothing speaks for it. */
export function pairOf(
  line: BankLine,
  stored: Payment,
  naming: Naming,
  around: Surroundings,
): Pair | undefined {
  const payment = asOf(stored, around.now);
  const payer = payerFact(line, payment);
  const sameCurrency = line.currency === payment.currency;
  const isAsked = sameCurrency && line.amount_minor === payment.amount_minor;
  const { reference, named } = naming;
  const isNamed = reference !== undefined || named !== undefined;
  if (!isNamed && !isAsked) return undefined;
  if (!isNamed && naming.payer === undefined && (around.isTest || around.rivals.length > 0)) return undefined;
  const isOpen = payment.status === 'pending' || payment.status === 'requires_review';
  if (!isNamed && !(isOpen || (payer?.agrees && payment.status === 'cancelled'))) return undefined;
  const { cell, values, hand } = placed(line, payment, around);
  // A name that only the merchant gave announces no payer: another person may pay for the customer.
  const isPayer = announced(payment).isByCustomer ? payer?.agrees : undefined;
  const by = reference?.form ?? (named !== undefined ? 'named' : payer?.agrees ? 'payer' : 'amount');
  const facts = [
    referenceFact(naming),
    namedFact(naming),
    isAsked
      ? fact(
          'amount',
          (say, write) => say`The amount is exact: ${write(line.amount_minor, line.currency)}.`,
          (say) => say`Line and payment.`,
        )
      : undefined,
    payer?.fact,
    dayFact(line, payment, around),
  ];
  return {
    ...{ line, payment, values, hand },
    cell: { ...cell, by, payer: isPayer === undefined ? 'unknown' : isPayer ? 'same' : 'other' },
    facts: facts.filter((one) => one !== undefined),
  };
}

/** The pair of a debit and a payment that it names. */
export function outgoingPair(
  line: BankLine,
  stored: Payment,
  by: keyof typeof OUT_BY,
  around: Surroundings,
): Pair {
  const payment = asOf(stored, around.now);
  const { cell, values } = placed(line, payment, around);
  return {
    line,
    payment,
    cell: { ...cell, by, money: 'out', beside: 'alone' },
    values: { ...values, how: (say) => say.of(OUT_BY[by]) },
    hand: undefined,
    facts: [],
  };
}

/** Everything of a cell but how the line names the payment, and who paid. */
function placed(
  line: BankLine,
  payment: Payment,
  around: Surroundings,
): Pick<Pair, 'cell' | 'values' | 'hand'> {
  const { timeZone, calendar, rivals, takenBack } = around;
  const { currency, created_at, expires_at, amount_minor: asked } = payment;
  const received = Math.max(0, receivedSoFar(payment));
  const byHand = handMoneyOf(payment);
  const hand = handOf(line, payment, byHand);
  const came = cameOf(payment, received, byHand);
  const lines = [line, ...rivals];
  // A line may show money by hand: that is left out where with it the lines come to more than is asked for.
  const shown = Math.max(0, sumMinor([received, -sumOf(byHand)]));
  const sum = (known: number) => sumMinor([known, ...lines.map((one) => one.amount_minor)]);
  const together = sum(sum(received) <= asked ? received : shown);
  const isPart =
    lines.every((one) => one.currency === currency) &&
    (together <= asked || !lines.some((one) => covers(one, sumMinor([asked, -shown]))));
  const due =
    hand?.amount_minor ??
    (came === 'approved' && !mayComeAgain(payment) ? (byHand[0]?.amount_minor ?? asked) : asked - received);
  const difference = sumMinor([line.amount_minor, -due]);
  const place = placeOfDay(line.day, { from: created_at, to: expires_at }, timeZone, calendar);
  const last = arrivalsOf(payment).at(-1)?.received_on;
  return {
    hand,
    cell: {
      money: 'in',
      came,
      hand: hand?.is ?? (byHand.length > 0 ? 'other' : 'none'),
      day: line.undated && place === 'after' ? 'none' : place,
      ...{ by: 'whole', payer: 'unknown' },
      amount: amountOf(),
      beside: besideOf(payment, around, isPart),
    },
    values: {
      arrived: money(line.amount_minor, line.currency),
      asked: money(asked, currency),
      gap: money(around.together ? (line.chargesMinor ?? 0) : Math.abs(difference), currency),
      received: money(received, currency),
      together: money(together, currency),
      hand: money((hand ?? byHand[0])?.amount_minor ?? asked, currency),
      before: (say) => (last === undefined ? say`before` : say`on ${onDay(last)(say)}`),
      back: onDay(takenBack?.line.day ?? ''),
      how: (say) => (takenBack ? say.of(BACK_BY[takenBack.by]) : ''),
      returned: money(returnedSoFar(payment), currency),
      day: onDay(line.day),
      created: onDay(dateIn(timeZone, created_at)),
      end: onDay(dateIn(timeZone, expires_at)),
      count: verbatim(String(around.named)),
    },
  };
  function amountOf(): MatrixCell['amount'] {
    if (line.currency !== currency) return 'currency';
    if (around.together !== undefined) return around.together;
    if (difference === 0) return 'exact';
    if (difference > 0) return 'more';
    return line.chargesMinor === -difference ? 'charges' : 'less';
  }
}

/** Whether a line alone comes to an amount, with what the bank took. */
const covers = ({ amount_minor, chargesMinor = 0 }: BankLine, due: number) =>
  sumMinor([amount_minor, chargesMinor]) >= due;

function cameOf(payment: Payment, received: number, byHand: readonly HandMoney[]): MatrixCell['came'] {
  const { status, status_reason, amount_minor } = payment;
  const isShort = byHand.length === 0 && lacksMoney(payment) && !mayComeAgain(payment);
  if (status === 'approved') return isShort ? 'short' : status;
  if (status === 'cancelled') return status_reason === 'expired' ? 'expired' : 'cancelled';
  if (status !== 'requires_review') return status;
  if (received <= 0) return 'announced';
  return received < amount_minor ? 'part' : 'received';
}

function besideOf(payment: Payment, around: Surroundings, isPart: boolean): MatrixCell['beside'] {
  const { takenBack, isTest, rivals, named, together, unseen, timeZone } = around;
  if (takenBack !== undefined) return 'back';
  if (isTest) return 'test';
  if (rivals.length > 0) return isPart ? 'parts' : 'rival';
  if (named > 1) return together ? 'several' : 'ambiguous';
  if (unseen !== undefined && dateIn(timeZone, payment.created_at) <= unseen) return 'unseen';
  return mayComeAgain(payment) ? 'again' : 'alone';
}

/** Money by hand that a line may show: by the bank's reference that was typed with it, else by the amount, which proves nothing. */
export function handOf(line: BankLine, payment: Payment, money = handMoneyOf(payment)): Proposal['hand'] {
  const { bank, booking, endToEnd, owner } = line.references;
  const own = creditorReference(payment);
  const written = [bank, booking, endToEnd, owner].map((text) => searchedReference(text ?? ''));
  const isSame = (text: string) =>
    searchedReference(text) !== own && written.includes(searchedReference(text));
  const same = money.find(({ references }) => references.some(isSame));
  if (same) return { ...same, is: 'same' };
  const like = money.find(({ amount_minor }) => amount_minor === line.amount_minor) ?? mayHold();
  return like && { ...like, is: 'like' };

  /** Money that a line may be a part of, where with the line besides it would be more than was asked for. */
  function mayHold(): HandMoney | undefined {
    const all = sumMinor([receivedSoFar(payment), line.amount_minor]);
    if (payment.status === 'approved' || all <= payment.amount_minor) return undefined;
    return money.find(({ amount_minor }) => amount_minor > line.amount_minor) ?? money[0];
  }
}

/** What is proposed for a pair, by its row of the matrix. */
export function proposalOf({ payment, cell, values, hand, facts }: Pair): Proposal {
  const { kind, level, says, act, button } = rowOf(cell);
  const isStrong = cell.by === 'whole' || (cell.amount === 'exact' && cell.by !== 'amount');
  const said = (say: Say, money: WriteMoney): Told => {
    const filled = (text: string) =>
      say.of(text).replaceAll(/\{(\w+)\}/g, (_, name) => values[name]!(say, money));
    return {
      sentence: says.map(filled).join(' '),
      act: filled(act),
      facts: facts.map(({ kind, text, basis }) => ({
        kind,
        text: text(say, money),
        basis: basis(say, money),
      })),
    };
  };
  return {
    payment,
    level: level === 'evidence' ? (isStrong ? 'likely' : 'possible') : level,
    case: kind,
    ...{ ...said(ENGLISH, plainMoney), said, button, hand },
  };
}
