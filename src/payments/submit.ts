// What a customer does with a payment: sends what checkout asks, says that a transfer is sent, takes it back, cancels, asks for a link.

import { type Facts, lockRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { searchedName } from '../lib/search-terms.ts';
import { formatTimestamp } from '../lib/time.ts';
import { expireDuePayment } from './expire.ts';
import type { Instructions, Method } from './methods/offer.ts';
import { PAYMENTS, type Payment } from './payment.ts';
import { changePayment, findPayment, movePayment, type Written } from './queries.ts';
import { paymentNotFound, recordPayment, refuseChangedOutside, transition } from './transition.ts';

/** What a customer sent by one method: whole for the reviewer, masked for the merchant and for everyone with the link. */
export interface Submission {
  method: string;
  whole: object;
  masked: object;
  /** Values by which reviewers find the payment, as far as the customer gave them. */
  payer: { name: string | null; email: string | null; account: string | null };
}

/** What a customer sent, as it is kept: whole, or masked in `payment_details`. */
export interface Sent extends Pick<Method, 'type' | 'name'> {
  method: string;
  language?: string;
  submitted_at: string;
  instructions?: Instructions;
  card?: { brand: string; last4: string };
  payer_name?: string;
  payer_email?: string;
  transfer_name?: string;
  transfer_reference?: string;
  [field: string]: unknown;
}

/** What the customer sent; null where they sent nothing, or it was erased. */
export const sentOf = ({ submission }: Pick<Payment, 'submission'>): Sent | null =>
  JSON.parse(submission ?? 'null');

/** The same as everyone with the link may see it. */
export const maskedOf = ({ payment_details }: Pick<Payment, 'payment_details'>): Sent | null =>
  JSON.parse(payment_details ?? 'null');

export const CUSTOMER = 'customer';

/** Hands a payment over to review for its customer. Throws `not_found`, and `invalid_status` where it is no longer pending. */
export function submitPayment(
  transaction: Transaction,
  id: string,
  requestId: string,
  submission: Submission,
): Promise<Payment> {
  const act = { actor: CUSTOMER, request_id: requestId };
  const { method } = submission;
  return transition(transaction, undefined, id, 'submit', act, submitted(transaction, submission), {
    method,
  });
}

/** What is written of a submission. */
export function submitted(
  { now }: Pick<Transaction, 'now'>,
  { method, whole, masked, payer }: Submission,
): Written {
  const submitted_at = formatTimestamp(now);
  return {
    submission: JSON.stringify({ ...whole, submitted_at }),
    payment_details: JSON.stringify({ ...masked, submitted_at }),
    submitted_at: now,
    announced_at: (whole as { type?: string }).type === 'bank_transfer' ? now : null,
    method,
    payer_email: payer.email?.toLowerCase() ?? null,
    payer_account: payer.account?.toUpperCase() ?? null,
    payer_name: payer.name === null ? null : searchedName(payer.name),
  };
}

/** Cancels a payment for its customer. Throws `not_found`, and `invalid_status` where it is no longer pending. */
export function cancelByCustomer(transaction: Transaction, id: string, requestId: string): Promise<Payment> {
  const act = { actor: CUSTOMER, request_id: requestId };
  return transition(transaction, undefined, id, 'cancel', act, { status_reason: 'cancelled_by_customer' });
}

/**
 * Notes once that the customer of an expired payment wants a new link. Throws `invalid_status` where it has not expired, or
 * was asked for before, and what `refuseChangedOutside` throws.
 */
export async function requestLink(
  transaction: Transaction,
  id: string,
  requestId: string,
  actor = CUSTOMER,
  facts: Facts = {},
): Promise<Payment> {
  // The sweeper may have yet to write that it expired: the order of the history is the order of things.
  await expireDuePayment(transaction, id);
  const expired = await lockRow(transaction, PAYMENTS, id);
  if (expired) await refuseChangedOutside(transaction, expired);
  const { now } = transaction;
  const guard = { is: { status_reason: 'expired', link_requested_at: null } } as const;
  const asked = await changePayment(transaction, id, guard, { link_requested_at: now, updated_at: now });
  if (!asked) throw new OperationalError('invalid_status', 'No new link can be asked for, or one was.');
  const act = { actor, request_id: requestId };
  await recordPayment(transaction, act, 'payment.link_requested', expired!, asked, facts);
  return asked;
}

/**
 * Keeps what a customer sent with "I have sent the transfer" on a payment that it cannot submit: one that expired, was cancelled or
 * decided, or whose merchant is suspended. The status stays; reviewers see it. What was sent before is kept below `earlier`. Only the
 * first is kept: returns false if there is one. Throws `not_found` and what `refuseChangedOutside` throws.
 */
export async function keepAnnouncement(
  transaction: Transaction,
  id: string,
  requestId: string,
  submission: Submission,
): Promise<boolean> {
  await expireDuePayment(transaction, id);
  const payment = await findPayment(transaction, id);
  if (!payment) throw paymentNotFound();
  await refuseChangedOutside(transaction, payment);
  const sent = sentOf(payment);
  const earlier = sent ? { earlier: sent } : {};
  const { now } = transaction;
  const { submitted_at: _stays, ...written } = submitted(transaction, {
    ...submission,
    whole: { ...submission.whole, ...earlier },
  });
  const guard = { is: { announced_at: null, version: payment.version } };
  const kept = await changePayment(transaction, id, guard, { ...written, updated_at: now });
  if (!kept) return false;
  const act = { actor: CUSTOMER, request_id: requestId };
  await recordPayment(transaction, act, 'payment.announced', payment, kept, { method: submission.method });
  return true;
}

const NOTHING_SENT = {
  submission: null,
  payment_details: null,
  submitted_at: null,
  announced_at: null,
  method: null,
  payer_email: null,
  payer_account: null,
  payer_name: null,
} as const satisfies Written;

/** True while a customer may take back what they sent: no money arrived, and no administrator approved the payment. */
export function mayWithdraw(payment: Payment, now: number): boolean {
  if (payment.received_minor !== null || payment.payment_details === null) return false;
  if (payment.status === 'cancelled' || payment.status === 'pending') return payment.announced_at !== null;
  return payment.status === 'requires_review' && now < payment.expires_at && !hasApproval(payment);
}

/** Whether an administrator approved it as the first of two. */
const hasApproval = ({ review }: Payment): boolean =>
  review !== null && (JSON.parse(review) as { act: string }[]).some(({ act }) => act === 'approve');

/**
 * Takes back what a customer sent. A payment under review waits to be paid again; others keep their status. Throws `not_found`, and
 * `invalid_status` where `mayWithdraw` says no, and what `refuseChangedOutside` throws.
 */
export async function withdraw(transaction: Transaction, id: string, requestId: string): Promise<Payment> {
  await expireDuePayment(transaction, id);
  const payment = await findPayment(transaction, id);
  if (!payment) throw paymentNotFound();
  if (!mayWithdraw(payment, transaction.now))
    throw new OperationalError('invalid_status', 'It cannot be taken back any more.');
  const act = { actor: CUSTOMER, request_id: requestId };
  await refuseChangedOutside(transaction, payment);
  const isSubmitted = payment.status === 'requires_review';
  const written = { ...NOTHING_SENT, claimed_by: null, claimed_until: null, updated_at: transaction.now };
  const guard = { is: { version: payment.version } };
  const changed = isSubmitted
    ? await movePayment(transaction, 'withdraw', id, guard, written)
    : await changePayment(transaction, id, guard, written);
  if (!changed) throw new OperationalError('conflict', 'The payment has changed.');
  const facts = isSubmitted ? { from: payment.status, reason: null } : {};
  const action = isSubmitted ? 'payment.pending' : 'payment.announcement_withdrawn';
  await recordPayment(transaction, act, action, payment, changed, facts);
  return changed;
}
