// Facts that help to decide, each with what it rests on; no scores.

import { formatAmount } from '../lib/money.ts';
import { ENGLISH, type Say } from '../lib/phrases.ts';
import { DAY_MS } from '../lib/time.ts';
import { findMerchant } from '../merchants/queries.ts';
import { asOf, customerOf, type Payment, sumMinor } from '../payments/payment.ts';
import { sentOf } from '../payments/submit.ts';
import type { Reader } from '../store/database.ts';
import { decidedAmounts, paymentsByTrait, type Trait } from './queries.ts';
import { arrivalsOf, knownSoFar } from './review.ts';
import { momentInWords } from './told.ts';

/** A fact about a payment that helps to decide, as it is shown. */
export interface Fact {
  kind:
    | 'test_mode'
    | 'merchant_suspended'
    | 'money_received'
    | 'on_statement'
    | 'same_email'
    | 'same_account'
    | 'same_reference'
    | 'amount'
    | 'payer_name'
    | 'link_requested'
    | 'announced';
  /** `notice`: worth a second look. */
  tone: 'plain' | 'notice';
  /** A sentence. Holds what customers typed: to be escaped. */
  text: string;
  /** What it rests on, a sentence. */
  basis: string;
  /** The ids of the payments it speaks of, newest first, a few at most, and what they have in common with the payment. */
  payments?: string[];
  shared?: Trait;
}

/** Writes an amount in minor units. */
export type WriteMoney = (minor: number, currency: string) => string;

/** `EUR 49.90`, for programs and commands. */
export const plainMoney: WriteMoney = (minor, currency) => `${currency} ${formatAmount(minor)}`;

/** Finds a fact that another room knows; undefined where it knows none. Throws `DatabaseError`. */
export type FactSource = (
  database: Reader,
  payment: Payment,
  money: WriteMoney,
  say: Say,
) => Promise<Fact | undefined>;

/** A line of a bank statement that was matched with a payment. */
export interface SeenLine {
  id: string;
  /** Minor units; less than 0 if the money went back. */
  amount_minor: number;
  /** `2026-11-20`; '' if the line has none. */
  day: string;
  /** What the payer wrote. */
  reference: string;
  /** The payer, as the bank names them. */
  name: string | undefined;
  account: string | undefined;
}

/** Maximum number of similar payments that are read, and of those that are named. */
const ALIKE_MAXIMUM = 100;
const ALIKE_NAMED = 5;
/** Number of payments of one customer in a day that is worth a second look. */
const MANY_IN_A_DAY = 3;
/** Maximum and minimum number of decided payments that the median is taken of. */
const MEDIAN_OF = 200;
const MEDIAN_LEAST = 5;
/** An amount this many times the median is worth a second look. */
const FAR_ABOVE = 5;

/** The moment, time zone and language that facts are written in. */
interface Telling {
  /** Milliseconds since 1970. */
  now: number;
  timeZone: string;
  /** English if undefined. */
  say?: Say;
  /** Writes an amount, as for programs if undefined. */
  money?: WriteMoney;
}

/** What a fact is made of. */
interface Looked extends Required<Telling> {
  database: Reader;
  payment: Payment;
}

/**
 * The facts about a payment, those about the payment itself first. `beside` knows one fact more. Throws `DatabaseError`.
 */
export async function factsOf(
  database: Reader,
  payment: Payment,
  { now, timeZone, say = ENGLISH, money = plainMoney }: Telling,
  beside: FactSource = async () => undefined,
): Promise<Fact[]> {
  const looked: Looked = { database, payment, now, timeZone, say, money };
  const found = await Promise.all([
    testMode(looked),
    suspended(looked),
    moneyReceived(looked),
    beside(database, payment, money, say),
    payerName(looked),
    amount(looked),
    alike('payer_email', looked),
    alike('payer_account', looked),
    alike('merchant_reference', looked),
    announcedOnly(looked),
    linkRequested(looked),
  ]);
  return found.filter((fact) => fact !== undefined);
}

function testMode({ say, payment }: Looked): Fact | undefined {
  if (payment.mode !== 'test') return undefined;
  return {
    kind: 'test_mode',
    tone: 'notice',
    text: say`This is a test payment: no money moves.`,
    basis: say`It was made with a test key.`,
  };
}

async function suspended({ say, database, payment, timeZone }: Looked): Promise<Fact | undefined> {
  const { merchant_id, merchant_name } = payment;
  const since = (await findMerchant(database, merchant_id))?.suspended_at ?? null;
  if (since === null) return undefined;
  return {
    kind: 'merchant_suspended',
    tone: 'notice',
    text: say`${merchant_name} is suspended. Its payments can still be decided.`,
    basis: say`It was suspended on ${momentInWords(since, timeZone, say)}.`,
  };
}

function moneyReceived({ say, payment, money, timeZone }: Looked): Fact | undefined {
  const last = arrivalsOf(payment).findLast(({ line }) => line === undefined);
  if (!last) return undefined; // what stands on a statement is a fact of its own
  const { currency } = payment;
  const received = knownSoFar(payment) ?? 0;
  const more = sumMinor([received, -payment.amount_minor]);
  const [total, difference] = [money(received, currency), money(Math.abs(more), currency)];
  return {
    kind: 'money_received',
    tone: more === 0 ? 'plain' : 'notice',
    text:
      more === 0
        ? say`${total} arrived, exactly what was asked for.`
        : more < 0
          ? say`${total} arrived, ${difference} less than was asked for.`
          : say`${total} arrived, ${difference} more than was asked for.`,
    basis: say`An administrator recorded it on ${momentInWords(last.at, timeZone, say)}.`,
  };
}

/** Names written in another order, letter case or spacing are the same. */
export function sameName(one: string, other: string): boolean {
  const words = (name: string) =>
    name
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.sort()
      .join(' ') ?? '';
  return words(one) === words(other);
}

function payerName({ say, payment }: Looked): Fact | undefined {
  const given = customerOf(payment).name ?? null;
  const sent = sentOf(payment);
  const typed = [sent?.payer_name, sent?.transfer_name].filter((name) => name !== undefined);
  if (given === null || typed.length === 0) return undefined;
  const other = typed.find((name) => !sameName(name, given));
  return {
    kind: 'payer_name',
    tone: other === undefined ? 'plain' : 'notice',
    text:
      other === undefined
        ? say`The names are the same: “${given}”.`
        : say`The names differ: customer “${other}”, order “${given}”.`,
    basis: say`Letter case and the order of words do not count.`,
  };
}

async function amount({ say, database, payment, money }: Looked): Promise<Fact | undefined> {
  const amounts = await decidedAmounts(database, payment, MEDIAN_OF);
  if (amounts.length < MEDIAN_LEAST) return undefined;
  const sorted = amounts.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const median =
    sorted.length % 2 === 1 ? sorted[middle]! : Math.round((sorted[middle - 1]! + sorted[middle]!) / 2);
  const times = payment.amount_minor / median;
  const { merchant_name, currency } = payment;
  const many = times < 10 ? Math.round(times * 10) / 10 : Math.round(times);
  return {
    kind: 'amount',
    tone: times >= FAR_ABOVE ? 'notice' : 'plain',
    text:
      times >= 2
        ? say`${many} times what ${merchant_name} usually asks.`
        : say`About what ${merchant_name} usually asks, or less.`,
    basis: say`The median of its last ${amounts.length} decided payments in ${currency} is ${money(median, currency)}.`,
  };
}

/** The fact that other payments share a trait with this one; undefined if none does. */
async function alike(trait: Trait, { say, database, payment, now }: Looked): Promise<Fact | undefined> {
  const read = await paymentsByTrait(database, trait, payment, ALIKE_MAXIMUM + 1);
  if (read.length === 0) return undefined;
  const found = read.slice(0, ALIKE_MAXIMUM).map((one) => asOf(one, now));
  const count = (is: (one: Payment) => boolean) => found.filter(is).length;
  const rejected = count(({ status }) => status === 'rejected');
  const recent = count(({ created_at }) => created_at > now - DAY_MS);
  const strangers = count(({ payer_email }) => payer_email !== null && payer_email !== payment.payer_email);
  const open = count(({ status }) => status !== 'cancelled' && status !== 'rejected');
  const isNotice = {
    payer_email: rejected > 0 || recent >= MANY_IN_A_DAY,
    payer_account: rejected > 0 || strangers > 0,
    merchant_reference: open > 0,
  }[trait];
  const besides =
    trait === 'merchant_reference'
      ? [say`${open} of them neither cancelled nor rejected`]
      : [
          recent > 0 && say`${recent} from the last 24 hours`,
          rejected > 0 && say`${rejected} rejected`,
          trait === 'payer_account' && strangers > 0 && say`${strangers} with another email address`,
        ].filter((part) => part !== false);
  const { many, ...told } = toldOfTrait(trait, say, payment, read.length);
  return {
    ...told,
    tone: isNotice ? 'notice' : 'plain',
    text: `${[many, ...besides].join(', ')}.`,
    payments: found.slice(0, ALIKE_NAMED).map(({ id }) => id),
    shared: trait,
  };
}

function toldOfTrait(
  trait: Trait,
  say: Say,
  { payer_email, payer_account, merchant_reference }: Payment,
  n: number,
): Pick<Fact, 'kind' | 'basis'> & { many: string } {
  const isMore = n > ALIKE_MAXIMUM;
  if (trait === 'payer_email')
    return {
      kind: 'same_email',
      many: isMore
        ? say`More than ${ALIKE_MAXIMUM} other payments use this email address`
        : say.count(
            n,
            '{n} other payment uses this email address',
            '{n} other payments use this email address',
          ),
      basis: say`At all merchants: ${payer_email!}, in any letter case. Counted in the newest ${ALIKE_MAXIMUM}.`,
    };
  if (trait === 'payer_account')
    return {
      kind: 'same_account',
      many: isMore
        ? say`More than ${ALIKE_MAXIMUM} other payments use this bank account`
        : say.count(
            n,
            '{n} other payment uses this bank account',
            '{n} other payments use this bank account',
          ),
      basis: say`At all merchants: ${payer_account!}. Counted in the newest ${ALIKE_MAXIMUM}.`,
    };
  return {
    kind: 'same_reference',
    many: isMore
      ? say`More than ${ALIKE_MAXIMUM} other payments use this order number`
      : say.count(n, '{n} other payment uses this order number', '{n} other payments use this order number'),
    basis: say`At this merchant, in the same mode: ${merchant_reference!}. Counted in the newest ${ALIKE_MAXIMUM}.`,
  };
}

/** A transfer that the customer announced when the payment could not be submitted. */
function announcedOnly({ say, payment, timeZone }: Looked): Fact | undefined {
  const { announced_at, status } = payment;
  if (announced_at === null || (status !== 'pending' && status !== 'cancelled')) return undefined;
  return {
    kind: 'announced',
    tone: 'notice',
    text: say`The customer said on ${momentInWords(announced_at, timeZone, say)} that they had sent the transfer.`,
    basis: say`The payment could not be sent for review when they pressed the button. Look for the money on the statement.`,
  };
}

function linkRequested({ say, payment: { link_requested_at }, timeZone }: Looked): Fact | undefined {
  if (link_requested_at === null) return undefined;
  return {
    kind: 'link_requested',
    tone: 'plain',
    text: say`The customer asked for a new link on ${momentInWords(link_requested_at, timeZone, say)}.`,
    basis: say`The payment had expired by then.`,
  };
}
