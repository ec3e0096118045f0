// Erases personal data: of a payment nothing more can come of, and of the answers kept about it; its history goes on verifying.

import { type Act, newSalt } from '../journal/audit-entry.ts';
import { lockRow, recordRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import type { Reader } from '../store/database.ts';
import { expireDuePayment } from './expire.ts';
import { deleteAnswersOf } from './history-queries.ts';
import { RECORDED_ANSWERS } from './idempotency.ts';
import { customerEmail, PAYMENTS, type Payment, type Status, typedEmail } from './payment.ts';
import { changePayment, paymentsAfter } from './queries.ts';
import { paymentNotFound, recordPayment, refuseChangedOutside } from './transition.ts';

const PAGE = 500;

/** The statuses in which a payment stays, unless an administrator records money on a cancelled one. */
const FINAL: readonly Status[] = ['approved', 'rejected', 'cancelled'];

/** The columns that may tell who paid or what for. URLs are erased whole, because a path may name a person too. */
const CLEARED = {
  description: null,
  return_url: null,
  cancel_url: null,
  customer: null,
  metadata: null,
  payment_details: null,
  submission: null,
  review_message: null,
  payer_email: null,
  payer_account: null,
  payer_name: null,
  bank_reference: null,
  review: null,
} as const satisfies Partial<Payment>;

/**
 * Erases a payment's personal data and the answers kept about it; returns how many those were. What was erased before is
 * erased again. Throws `not_found`, `invalid_status` where something may still come of the payment, and what
 * `refuseChangedOutside` throws.
 */
export async function erasePayment(transaction: Transaction, id: string, act: Act): Promise<number> {
  await expireDuePayment(transaction, id);
  const payment = await lockRow(transaction, PAYMENTS, id);
  if (!payment) throw paymentNotFound();
  await refuseChangedOutside(transaction, payment);
  const erased = await changePayment(transaction, id, { status: FINAL }, { ...CLEARED, salt: newSalt() });
  if (!erased)
    throw new OperationalError(
      'invalid_status',
      `The payment ${id} is ${payment.status}; only an approved, rejected or cancelled one can be erased.`,
    );
  const answers = await deleteAnswersOf(transaction, id);
  await recordPayment(transaction, act, 'payment.erased', payment, erased, { answers: answers.length });
  for (const before of answers)
    await recordRow(transaction, act, 'answer.erased', RECORDED_ANSWERS, { before, after: undefined });
  return answers.length;
}

/**
 * The ids of all payments with this e-mail address, from the merchant or from checkout; letter case does not count. Reads every payment,
 * a page in memory at a time. Calls `onProgress` with the number read so far. Throws `DatabaseError`.
 */
export async function findByEmail(
  database: Reader,
  email: string,
  onProgress: (done: number) => void,
): Promise<string[]> {
  const wanted = email.toLowerCase();
  const found: string[] = [];
  let done = 0;
  for (let last: string | undefined; ; ) {
    const page = await paymentsAfter(database, last, PAGE);
    found.push(...page.filter((payment) => emailsOf(payment).includes(wanted)).map(({ id }) => id));
    done += page.length;
    onProgress(done);
    if (page.length < PAGE) return found;
    last = page.at(-1)!.id;
  }
}

const emailsOf = (payment: Payment) =>
  [customerEmail(payment), typedEmail(payment)].map((email) => email?.toLowerCase());
