// Creates a payment, pending, with its first entry in the history.

import { type Act, newSalt } from '../journal/audit-entry.ts';
import { recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { SECOND_MS } from '../lib/time.ts';
import type { Caller } from '../merchants/merchant.ts';
import { type PaymentTerms, payByDay } from './pay-by.ts';
import { PAYMENT_ID_PREFIX, PAYMENTS, type Payment } from './payment.ts';
import type { PaymentRequest } from './request.ts';

/** Adds the payment that `request` asks for. */
export function createPayment(
  transaction: Transaction,
  caller: Caller,
  act: Act,
  request: PaymentRequest,
  terms: PaymentTerms,
): Payment {
  const { now } = transaction;
  const { merchant, key } = caller;
  const { expires_in, customer, metadata, ...values } = request;
  const expires_at = now + (expires_in ?? terms.lifetimeS) * SECOND_MS;
  const payment: Payment = {
    ...PAYMENTS.nulls,
    id: timeOrderedId(PAYMENT_ID_PREFIX, now),
    merchant_id: merchant.id,
    mode: key.mode,
    status: 'pending',
    merchant_name: merchant.name,
    ...values,
    customer: customer && JSON.stringify(customer),
    metadata: metadata && JSON.stringify(metadata),
    salt: newSalt(),
    version: 1,
    created_at: now,
    updated_at: now,
    expires_at,
    pay_by: payByDay(now, expires_at, terms),
  };
  transaction.insert(PAYMENTS, payment);
  recordNewRow(transaction, act, 'payment.created', PAYMENTS, payment, {
    amount_minor: payment.amount_minor,
    currency: payment.currency,
    mode: payment.mode,
    key: key.id,
  });
  return payment;
}
