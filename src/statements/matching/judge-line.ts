// Judges one payment for one bank line: finds its cell of the matrix, and fills in what the row says.

import { placeOfDay } from '../../lib/bank-days.ts';
import { ENGLISH, phrase, type Say, type Sentence } from '../../lib/phrases.ts';
import { namesAgree, searchedReference } from '../../lib/search-terms.ts';
import { dateIn, daysFrom } from '../../lib/time.ts';
import { creditorReference } from '../../payments/methods/transfer/creditor-reference.ts';
import { accountsAgree } from '../../payments/methods/transfer/payer-account.ts';
import { asOf, type Payment } from '../../payments/payment.ts';
import { plainMoney, type WriteMoney } from '../../review/fact.ts';
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
import type { BankLine, ReferenceRange, TakenBack } from './line-evidence.ts';
import type { LineCase, MatrixCell } from './matrix.ts';
import { BACK_BY } from './matrix-outcomes.ts';
import { type Judgement, rowOf } from './matrix-row.ts';

/** The levels of docs/matching.md: `likely` and `possible` want a look. */
export const MATCH_LEVELS = ['certain', 'likely', 'possible'] as const;
type MatchLevel = (typeof MATCH_LEVELS)[number];

/** One fact, and what it rests on. Both may hold what the bank or a customer wrote: to be escaped. */
interface LineFact<Text = string> {
  kind: 'reference' | 'named' | 'amount' | 'payer' | 'day';
  text: Text;
  basis: Text;
}

/** A text in the reader's language, with amounts as `money` writes them. */
type Worded = (say: Say, money: WriteMoney) => string;

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

/** How a line names a payment. */
export interface Naming {
  /** By its transfer reference. */
  reference?: Pick<ReferenceRange, 'reference' | 'form'>;
  /** By the merchant's reference, the payment's id, or a bank's reference that an administrator typed. */
  named?: string;
  /** The payer's account or name was typed by the customer. */
  payer?: 'account' | 'name';
}

/** What is known around a line and a payment: other lines and payments, the time, and the zone of its days. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  now: number;
  timeZone: string;
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
const plain =
  (text: string): Sentence =>
  () =>
    text;

/** What the customer and the merchant said of the payer. Erased payments say nothing. */
function announced(payment: Payment): { names: string[]; account: string | null; isByCustomer: boolean } {
  const read = (text: string | null): Record<string, unknown> => (text === null ? {} : JSON.parse(text));
  const sent = read(payment.submission);
  const names = [read(payment.customer).name, sent.payer_name, sent.transfer_name];
  return {
    names: names.filter((name): name is string => typeof name === 'string' && name !== ''),
    account: payment.payer_account,
    isByCustomer: payment.payer_account !== null || typeof sent.transfer_name === 'string',
  };
}

/** Whether the bank's payer is who was announced; undefined if there is nothing to compare. */
function payerFact(
  line: BankLine,
  payment: Payment,
): { agrees: boolean; fact: LineFact<Worded> } | undefined {
  const { names, account } = announced(payment);
  const { name, account: from } = line.counterparty;
  const told = (agrees: boolean, text: Worded, basis: Worded) => ({
    agrees,
    fact: fact('payer', text, basis),
  });
  const isAccount = account === null || from === undefined ? undefined : accountsAgree(account, from);
  if (isAccount)
    return told(
      true,
      (say) => say`The money comes from the account that the customer gave.`,
      plain(`${from}.`),
    );
  if (name !== undefined && names.length > 0) {
    const same = names.find((one) => namesAgree(one, name));
    return told(
      same !== undefined,
      (say) => say`The payer is “${name}”, the customer “${same ?? names[0]!}”.`,
      (say) =>
        same === name
          ? say`They are equal.`
          : say`Compared without regard to letter case, accents, initials and the order of words.`,
    );
  }
  if (isAccount === false)
    return told(
      false,
      (say) => say`The money comes from another account than the customer gave.`,
      (say) => say`${from!}, not ${account!}.`,
    );
  return undefined;
}

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
    isAsked && line.beyond === undefined
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

/** The pair of a debit and the payment whose reference it carries. */
export function outgoingPair(line: BankLine, stored: Payment, around: Surroundings): Pair {
  const payment = asOf(stored, around.now);
  const { cell, values } = placed(line, payment, around);
  return {
    line,
    payment,
    cell: { ...cell, money: 'out', beside: 'alone' },
    values,
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
  const { timeZone, rivals, takenBack } = around;
  const { currency, created_at, expires_at, amount_minor: asked } = payment;
  const received = receivedSoFar(payment);
  const byHand = handMoneyOf(payment);
  const hand = handOf(line, payment, byHand);
  const came = cameOf(payment, received, byHand);
  const lines = [line, ...rivals];
  // A line may show money by hand: that is left out where with it the lines come to more than is asked for.
  const shown = Math.max(0, received - sumOf(byHand));
  const together = sumOf(lines) + (received + sumOf(lines) <= asked ? received : shown);
  const isPart = lines.every((one) => one.currency === currency && !covers(one, asked - shown));
  const due =
    hand?.amount_minor ??
    (came === 'approved' && !mayComeAgain(payment) ? (byHand[0]?.amount_minor ?? asked) : asked - received);
  const difference = line.amount_minor - due;
  // The weekends and holidays that all calendars of euros share; other days of rest make a line late that wants a look.
  const place = placeOfDay(line.day, { from: created_at, to: expires_at }, timeZone, 'TARGET');
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
      gap:
        difference === 0
          ? (say, write) => say`less than ${write(1, currency)}`
          : money(around.together ? (line.chargesMinor ?? 0) : Math.abs(difference), currency),
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
      count: plain(String(around.named)),
    },
  };
  function amountOf(): MatrixCell['amount'] {
    if (line.currency !== currency) return 'currency';
    // Thousandths that are not kept are more than what is asked for in hundredths.
    if (line.beyond !== undefined && difference >= 0) return 'more';
    if (around.together !== undefined) return around.together;
    if (difference === 0) return 'exact';
    if (difference > 0) return 'more';
    return line.chargesMinor === -difference ? 'charges' : 'less';
  }
}

/** Whether a line alone comes to an amount, with what the bank took. */
const covers = ({ amount_minor, chargesMinor = 0 }: BankLine, due: number) =>
  amount_minor + chargesMinor >= due;

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
  const like = money.find(({ amount_minor }) => amount_minor === line.amount_minor);
  return like && { ...like, is: 'like' };
}

/** What is proposed for a pair, by its row of the matrix. */
export function proposalOf({ payment, cell, values, hand, facts }: Pair): Proposal {
  const { kind, level, says, act, button } = rowOf(cell);
  const isStrong = cell.by === 'whole' || (cell.amount === 'exact' && cell.by !== 'amount');
  const said = (say: Say, money: WriteMoney): Told => {
    const filled = (text: string) =>
      say.of(text).replaceAll(/\{(\w+)\}/g, (_, name) => values[name]!(say, money));
    return {
      // An amount such as "less than KWD 0.01" may begin it.
      sentence: says.map((one) => filled(one).replace(/^\p{Ll}/u, (first) => first.toUpperCase())).join(' '),
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

const fact = (kind: LineFact['kind'], text: Worded, basis: Worded): LineFact<Worded> => ({
  kind,
  text,
  basis,
});

function referenceFact({ reference }: Naming): LineFact<Worded> | undefined {
  if (!reference) return undefined;
  const { form, reference: written } = reference;
  const text = {
    whole: phrase('The line carries the transfer reference of the payment.'),
    corrected: phrase('The line carries the transfer reference of the payment but for one character.'),
    cut: phrase('The line carries the beginning of the transfer reference of the payment.'),
  }[form];
  return fact('reference', (say) => say.of(text), plain(`${written}.`));
}

function namedFact({ named }: Naming): LineFact<Worded> | undefined {
  if (named === undefined) return undefined;
  return fact(
    'named',
    (say) => say`The text names the payment: ${named}.`,
    (say) => say`The merchant’s reference, the payment’s id, or a bank’s reference that was typed.`,
  );
}

function dayFact(
  line: BankLine,
  payment: Payment,
  { now, timeZone }: Surroundings,
): LineFact<Worded> | undefined {
  const days = daysFrom(dateIn(timeZone, payment.created_at), line.day);
  if (Number.isNaN(days) || line.undated) return undefined;
  const isAhead = line.day > dateIn(timeZone, now);
  return fact(
    'day',
    (say) => {
      if (isAhead) return say`The bank books the money on a day to come.`;
      if (days < 0) return say`The money came before the payment was created.`;
      return days === 0
        ? say`The money came on the day the payment was created.`
        : say.count(
            days,
            'The money came a day after the payment was created.',
            'The money came {n} days after the payment was created.',
          );
    },
    (say) => `${dayInWords(line.day, say)}.`,
  );
}
