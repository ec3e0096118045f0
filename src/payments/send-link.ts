// Asks that the link of a payment be sent to its customer by mail: an entry of the history, from which the letter is made.

import type { Act } from '../journal/audit-entry.ts';
import type { Facts } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { phrase, spoken } from '../lib/phrases.ts';
import { asOf, customerEmail, type Payment } from './payment.ts';
import { changePayment, findPayment, findPaymentOf, type Tenant } from './queries.ts';
import { paymentNotFound, recordPayment, refuseChangedOutside } from './transition.ts';

/**
 * Records that the link of a payment, of `tenant` or of any merchant if undefined, is to be sent. Throws `not_found`, `invalid_status`
 * where it is not pending, `conflict` where its customer has no address, and what `refuseChangedOutside` throws.
 */
export async function sendLink(
  transaction: Transaction,
  tenant: Tenant | undefined,
  id: string,
  act: Act,
  facts: Facts = {},
): Promise<Payment> {
  const found = await (tenant ? findPaymentOf(transaction, tenant, id) : findPayment(transaction, id));
  if (!found) throw paymentNotFound();
  const { status } = asOf(found, transaction.now);
  if (status !== 'pending')
    throw new OperationalError(
      'invalid_status',
      spoken((say) => say`Only the link of a pending payment is sent. This one is ${say.of(status)}.`),
    );
  if (customerEmail(found) === undefined)
    throw new OperationalError('conflict', phrase('The payment has no customer.email to send its link to.'));
  await refuseChangedOutside(transaction, found);
  const guard = { is: { version: found.version }, status: ['pending'] } as const;
  const payment = await changePayment(transaction, id, guard, {});
  if (!payment) throw new OperationalError('conflict', phrase('The payment has changed.'));
  await recordPayment(transaction, act, 'payment.link_sent', found, payment, {
    merchant: found.merchant_id,
    ...facts,
  });
  return payment;
}
