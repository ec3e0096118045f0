// What a customer does with a payment: sends what checkout asks, cancels it, or asks for a new link when it is too late.
import { type Facts, lockRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { searchedName } from '../lib/search-terms.ts';
import { formatTimestamp } from '../lib/time.ts';
import { expireDuePayment } from './expire.ts';
import { PAYMENTS, type Payment } from './payment.ts';
import { changePayment, type Written } from './queries.ts';
import { recordPayment, refuseChangedOutside } from './record.ts';
import { transition } from './transition.ts';

/** What a customer sent by one method: whole for the reviewer, masked for the merchant and for everyone with the link. */
export interface Submission {
  method: string;
  whole: object;
  masked: object;
  /** Values by which reviewers find the payment, as far as the customer gave them. */
  payer: { name: string | null; email: string | null; account: string | null };
}

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
