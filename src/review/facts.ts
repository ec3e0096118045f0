// Facts that help to decide, each with what it rests on; no scores.

import { formatAmount } from '../lib/money.ts';
import { DAY_MS } from '../lib/time.ts';
import { findMerchant } from '../merchants/queries.ts';
import { asOf, type Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import type { Fact, FactSource, WriteMoney } from './fact.ts';
import { decidedAmounts, paymentsByTrait, type Trait } from './queries.ts';
import { arrivalsOf, receivedSoFar } from './review.ts';
import { momentInWords } from './told.ts';

/** How many payments alike are looked at, and how many of them are named. */
const ALIKE_MAXIMUM = 100;
const ALIKE_NAMED = 5;
/** So many payments of one customer within a day are worth a second look. */
const MANY_IN_A_DAY = 3;
/** How many decided payments the median is of, and below how many it says nothing. */
const MEDIAN_OF = 200;
const MEDIAN_LEAST = 5;
/** An amount this many times the median is worth a second look. */
const FAR_ABOVE = 5;

const plainMoney: WriteMoney = (minor, currency) => `${currency} ${formatAmount(minor)}`;

/**
 * The facts about a payment at `now` (milliseconds since 1970), those about the payment itself first. `money` writes an amount
 * (minor units, currency), `beside` knows one fact more. Throws `DatabaseError`.
 */
export async function factsOf(
  database: Reader,
  payment: Payment,
  { now, timeZone }: { now: number; timeZone: string },
  money: WriteMoney = plainMoney,
  beside: FactSource = async () => undefined,
): Promise<Fact[]> {
  const found = await Promise.all([
    testMode(payment),
    suspended(database, payment, timeZone),
    moneyReceived(payment, money, timeZone),
    beside(database, payment, money),
    payerName(payment),
    amount(database, payment, money),
    sameEmail(database, payment, now),
    sameAccount(database, payment, now),
    sameReference(database, payment, now),
    announcedOnly(payment, timeZone),
    linkRequested(payment, timeZone),
  ]);
  return found.filter((fact) => fact !== undefined);
}

function testMode({ mode }: Payment): Fact | undefined {
  if (mode !== 'test') return undefined;
  return {
    kind: 'test_mode',
    tone: 'notice',
    text: 'This is a test payment: no money moves.',
    basis: 'It was made with a test key.',
  };
}

async function suspended(
  database: Reader,
  { merchant_id, merchant_name }: Payment,
  timeZone: string,
): Promise<Fact | undefined> {
  const since = (await findMerchant(database, merchant_id))?.suspended_at ?? null;
  if (since === null) return undefined;
  return {
    kind: 'merchant_suspended',
    tone: 'notice',
    text: `${merchant_name} is suspended. Its payments can still be decided.`,
    basis: `It was suspended on ${momentInWords(since, timeZone)}.`,
  };
}

function moneyReceived(payment: Payment, money: WriteMoney, timeZone: string): Fact | undefined {
  const last = arrivalsOf(payment).findLast(({ line }) => line === undefined);
  if (!last) return undefined; // what stands on a statement is a fact of its own
  const { currency } = payment;
  const total = receivedSoFar(payment);
  const more = total - payment.amount_minor;
  const difference = `${money(Math.abs(more), currency)} ${more < 0 ? 'less' : 'more'} than was asked for`;
  return {
    kind: 'money_received',
    tone: more === 0 ? 'plain' : 'notice',
    text: `${money(total, currency)} arrived, ${more === 0 ? 'as was asked for' : difference}.`,
    basis: `An administrator recorded it on ${momentInWords(last.at, timeZone)}.`,
  };
}

/** Names written in another order, letter case or spacing are the same. */
function sameName(one: string, other: string): boolean {
  const words = (name: string) =>
    name
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.sort()
      .join(' ') ?? '';
  return words(one) === words(other);
}

function payerName({ customer, submission }: Payment): Fact | undefined {
  const given = customer === null ? null : (JSON.parse(customer) as { name: string | null }).name;
  const sent =
    submission === null ? {} : (JSON.parse(submission) as { payer_name?: string; transfer_name?: string });
  const typed = [sent.payer_name, sent.transfer_name].filter((name) => name !== undefined);
  if (given === null || typed.length === 0) return undefined;
  const other = typed.find((name) => !sameName(name, given));
  return {
    kind: 'payer_name',
    tone: other === undefined ? 'plain' : 'notice',
    text:
      other === undefined
        ? `The customer gave the name that the merchant did: “${given}”.`
        : `The customer gave the name “${other}”, the merchant “${given}”.`,
    basis: 'Compared without regard to letter case and the order of words.',
  };
}

async function amount(database: Reader, payment: Payment, money: WriteMoney): Promise<Fact | undefined> {
  const amounts = await decidedAmounts(database, payment, MEDIAN_OF);
  if (amounts.length < MEDIAN_LEAST) return undefined;
  const sorted = amounts.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const median =
    sorted.length % 2 === 1 ? sorted[middle]! : Math.round((sorted[middle - 1]! + sorted[middle]!) / 2);
  const times = payment.amount_minor / median;
  const written = money(median, payment.currency);
  return {
    kind: 'amount',
    tone: times >= FAR_ABOVE ? 'notice' : 'plain',
    text:
      times >= 2
        ? `The amount is ${times < 10 ? Math.round(times * 10) / 10 : Math.round(times)} times this merchant's median of ${written}.`
        : `The amount is not far above this merchant's median of ${written}.`,
    basis: `The median of its last ${amounts.length} decided payments in ${payment.currency}.`,
  };
}

interface Alike {
  payments: Payment[];
  count: string;
  recent: number;
  rejected: number;
}

/** The newest other payments that share something, or undefined. */
async function alike(
  database: Reader,
  trait: Trait,
  payment: Payment,
  now: number,
): Promise<Alike | undefined> {
  const found = (await paymentsByTrait(database, trait, payment, ALIKE_MAXIMUM + 1)).map((one) =>
    asOf(one, now),
  );
  if (found.length === 0) return undefined;
  const count = found.length > ALIKE_MAXIMUM ? `more than ${ALIKE_MAXIMUM}` : String(found.length);
  const payments = found.slice(0, ALIKE_MAXIMUM);
  return {
    payments,
    count: `${count} other ${found.length === 1 ? 'payment' : 'payments'}`,
    recent: payments.filter(({ created_at }) => created_at > now - DAY_MS).length,
    rejected: payments.filter(({ status }) => status === 'rejected').length,
  };
}

/** Such as `, 3 from the last 24 hours, 1 rejected`. */
function besides({ recent, rejected }: Alike): string {
  return [recent && `, ${recent} from the last 24 hours`, rejected && `, ${rejected} rejected`]
    .filter(Boolean)
    .join('');
}

const named = ({ payments }: Alike) => payments.slice(0, ALIKE_NAMED).map(({ id }) => id);
const looked = `The newest ${ALIKE_MAXIMUM} are looked at.`;

async function sameEmail(database: Reader, payment: Payment, now: number): Promise<Fact | undefined> {
  const found = await alike(database, 'payer_email', payment, now);
  if (!found) return undefined;
  return {
    kind: 'same_email',
    tone: found.rejected > 0 || found.recent >= MANY_IN_A_DAY ? 'notice' : 'plain',
    text: `The same e-mail address stands on ${found.count}${besides(found)}.`,
    basis: `All merchants' payments with ${payment.payer_email}, in any letter case. ${looked}`,
    payments: named(found),
  };
}

async function sameAccount(database: Reader, payment: Payment, now: number): Promise<Fact | undefined> {
  const found = await alike(database, 'payer_account', payment, now);
  if (!found) return undefined;
  const others = found.payments.filter(
    ({ payer_email }) => payer_email !== null && payer_email !== payment.payer_email,
  ).length;
  return {
    kind: 'same_account',
    tone: found.rejected > 0 || others > 0 ? 'notice' : 'plain',
    text: `The same account pays for ${found.count}${besides(found)}${others > 0 ? `, ${others} with another e-mail address` : ''}.`,
    basis: `All merchants' payments from the account ${payment.payer_account}. ${looked}`,
    payments: named(found),
  };
}

async function sameReference(database: Reader, payment: Payment, now: number): Promise<Fact | undefined> {
  const found = await alike(database, 'merchant_reference', payment, now);
  if (!found) return undefined;
  const open = found.payments.filter(({ status }) => status !== 'cancelled' && status !== 'rejected').length;
  return {
    kind: 'same_reference',
    tone: open > 0 ? 'notice' : 'plain',
    text: `The merchant's reference ${payment.merchant_reference} stands on ${found.count}, ${open} of them neither cancelled nor rejected.`,
    basis: `This merchant's payments with exactly this reference, in the same mode. ${looked}`,
    payments: named(found),
  };
}

/** A transfer that the customer announced when the payment could not be submitted. */
function announcedOnly({ announced_at, status, method }: Payment, timeZone: string): Fact | undefined {
  if (announced_at === null || (status !== 'pending' && status !== 'cancelled')) return undefined;
  return {
    kind: 'announced',
    tone: 'notice',
    text: `The customer said on ${momentInWords(announced_at, timeZone)} that they had sent the transfer.`,
    basis: `The form of ${method} could not submit the payment. What it said is below.`,
  };
}

function linkRequested({ link_requested_at }: Payment, timeZone: string): Fact | undefined {
  if (link_requested_at === null) return undefined;
  return {
    kind: 'link_requested',
    tone: 'plain',
    text: `The customer asked for a new link on ${momentInWords(link_requested_at, timeZone)}.`,
    basis: 'It had expired by then.',
  };
}
