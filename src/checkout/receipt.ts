// The receipt of an approved payment: what a bookkeeper needs, and the number by which anyone can check that it was issued here.

import type { KeyRing } from '../journal/keys/key-ring.ts';
import { entriesOf, entriesWithAction, findSeal, sealHolding } from '../journal/queries.ts';
import type { Html } from '../lib/html.ts';
import { base32Digest } from '../lib/ids.ts';
import { isSame } from '../lib/secrets.ts';
import type { Profile } from '../merchants/merchant.ts';
import { maskName } from '../payments/methods/fields.ts';
import { customerOf, isPaymentId, type Payment } from '../payments/payment.ts';
import { checkoutUrl } from '../payments/present.ts';
import { findPayment } from '../payments/queries.ts';
import { maskedOf, sentOf } from '../payments/submit.ts';
import { isPaymentAsRecorded } from '../payments/transition.ts';
import { arrivalsOf } from '../review/review.ts';
import type { Reader } from '../store/database.ts';
import type { Words } from '../web/markup/languages.ts';
import type { TermPair } from '../web/markup/parts.ts';
import { nameOfMethod } from './parts.ts';

/** Characters of the code: 60 bits. */
const CODE_CHARACTERS = 12;
/** Of one seal. A commit holds fewer. */
const ENTRIES_MAXIMUM = 10_000;
const APPROVED = 'payment.approved';

export interface IssuedReceipt {
  /** `1042-7kq2-m9xt-4hbd`: the number of the seal that holds the approval, and a code. */
  number: string;
  /** When the payment was approved, in milliseconds since 1970. */
  approvedAt: number;
}

/**
 * The code of a receipt. It is made of the payment's id, which only its readers have, and of the seal over the approval, so it needs no
 * key and stays the same for as long as the history is the same.
 */
function codeOf(paymentId: string, entry: number, sealHash: string): string {
  const code = base32Digest(`receipt ${paymentId} ${entry} ${sealHash}`, CODE_CHARACTERS);
  return code.replace(/(.{4})(?=.)/g, '$1-');
}

/** The receipt of a payment that is as recorded; undefined if it is not approved. Throws `DatabaseError`. */
export async function receiptOf(
  database: Reader,
  { id, status }: Payment,
): Promise<IssuedReceipt | undefined> {
  if (status !== 'approved') return undefined;
  const approval = (await entriesOf(database, id)).findLast(({ action }) => action === APPROVED);
  const seal = approval && (await sealHolding(database, approval.number));
  if (!approval || !seal) return undefined;
  return { number: `${seal.number}-${codeOf(id, approval.number, seal.hash)}`, approvedAt: approval.at };
}

/**
 * The payment whose receipt has a number, with when it was approved. Undefined for any number that was never issued, and where
 * the payment was changed in the store itself. Throws `DatabaseError` and `HistoryBroken`.
 */
export async function paymentWithReceipt(
  database: Reader,
  number: string,
): Promise<{ payment: Payment; approvedAt: number } | undefined> {
  const [, sealNumber, code] = /^(\d{1,15})-(.{14})$/.exec(asWritten(number)) ?? [];
  const seal = sealNumber === undefined ? undefined : await findSeal(database, Number(sealNumber));
  if (!seal) return undefined;
  const entries = await entriesWithAction(
    database,
    [APPROVED],
    seal.first_entry - 1,
    seal.last_entry,
    ENTRIES_MAXIMUM,
  );
  const entry = entries.find(
    ({ number, subject }) => isPaymentId(subject) && isSame(code!, codeOf(subject, number, seal.hash)),
  );
  const payment = entry && (await findPayment(database, entry.subject));
  if (payment?.status !== 'approved' || !(await isPaymentAsRecorded(database, payment))) return undefined;
  return { payment, approvedAt: entry!.at };
}

/** A number as it was issued: people type capitals, other dashes and spaces. */
const asWritten = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[\s\u2010-\u2015_]+/g, '-');

/**
 * The address of a receipt for its payer, which stands in their letter alone: there it has their whole name, as books need it. Others who
 * hold the payment's link see the name masked.
 */
export const payersUrl = (ring: KeyRing, checkoutBaseUrl: string, paymentId: string): string =>
  `${checkoutUrl(checkoutBaseUrl, paymentId)}&payer=${ring.mac('payer', paymentId)}`;

/** The name of who paid, as they typed it, else as the merchant gave it: whole for `token` of the payer's address, else masked. */
function payerName(payment: Payment, isPayers: boolean): string | null {
  const sent = sentOf(payment);
  const name = sent?.payer_name ?? sent?.transfer_name ?? customerOf(payment).name ?? null;
  return name === null || isPayers ? name : maskName(name);
}

/** What a receipt says beside what every page of a payment does. `isPayers`: to its payer, who has their name whole. */
export function receiptRows(
  { payment, words, profile }: { payment: Payment; words: Words; profile: Profile },
  { number, approvedAt }: IssuedReceipt,
  isPayers: boolean,
): [Html, Html | string][] {
  const { legal_name, address, tax_id } = profile.particulars ?? {};
  const details = maskedOf(payment);
  const paidOn = arrivalsOf(payment).at(-1)?.received_on;
  const rows: TermPair[] = [
    [words.html('receipt.number'), number],
    [words.html('receipt.to'), legal_name ?? payment.merchant_name],
    [words.html('receipt.address'), address ?? null],
    [words.html('receipt.tax'), tax_id ?? null],
    [words.html('receipt.paid'), paidOn === undefined ? null : words.day(paidOn)],
    [words.html('fact.decided'), words.moment(approvedAt)],
    [words.html('fact.method'), details && nameOfMethod(words, details)],
    [words.html('receipt.payer'), payerName(payment, isPayers)],
    [words.html('receipt.reference'), details?.transfer_reference ?? null],
  ];
  return rows.filter((row): row is [Html, Html | string] => row[1] !== null);
}
