// What a customer says of a transfer: that it is sent, also where that comes too late to submit the payment, and that this was a mistake.
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { expireDuePayment } from './expire.ts';
import type { Payment } from './payment.ts';
import { changePayment, findPayment, movePayment, type Written } from './queries.ts';
import { recordPayment, refuseChangedOutside } from './record.ts';
import { CUSTOMER, type Submission, submitted } from './submit.ts';
import { paymentNotFound } from './transition.ts';

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
  const earlier = payment.submission === null ? {} : { earlier: JSON.parse(payment.submission) };
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
