// Trying out: a developer moves a test payment as its customer, its reviewer and the clock would.
import type { Act } from '../journal/audit-entry.ts';
import { type Facts, lockRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { validationFailed } from '../lib/errors.ts';
import { parseAmount } from '../lib/money.ts';
import { lastDays } from '../lib/time.ts';
import { expireDuePayment } from '../payments/expire.ts';
import { asOf, PAYMENTS, type Payment } from '../payments/payment.ts';
import { changePayment, findPaymentOf, movePayment, type Tenant } from '../payments/queries.ts';
import { recordPayment, refuseChangedOutside } from '../payments/record.ts';
import { requestLink, type Submission, submitted } from '../payments/submit.ts';
import { paymentNotFound, transition, wrongStatus } from '../payments/transition.ts';
import { toldReason, UNCLAIMED } from './decide.ts';
import type { Rejection } from './review.ts';

/** What can be tried out with a test payment. */
export const TRIALS = ['submit', 'approve', 'reject', 'expire', 'record', 'request_link'] as const;
export type Trial = (typeof TRIALS)[number];

/** The actor of the entries. */
const TEST = 'test';

/** What a customer would have sent who pays with a test card. */
const CARD = {
  method: 'test_card',
  type: 'test_card',
  name: null,
  card: { brand: 'Visa', last4: '4242' },
} as const;
const SUBMISSION: Submission = {
  method: 'test_card',
  whole: CARD,
  masked: CARD,
  payer: { name: null, email: null, account: null },
};

export interface TryOut {
  id: string;
  merchant_id: string;
  requestId: string;
  /** For the entry: which key asked. */
  facts?: Facts;
  rejection?: Pick<Rejection, 'reason' | 'message'> | undefined;
  /** How much money `record` records, in the main unit; the payment's amount where none is given. */
  amount?: number | undefined;
}

/**
 * Makes one move of a test payment without a person: a limit above which two must approve does not hold here, and a claim ends.
 * Returns the payment as it is then. Throws `not_found` for a live payment, as for
 * one that does not exist, `invalid_status` where the move does not start from its status, `conflict` where it was changed outside
 * the service, and `validation_failed` for an amount that its currency does not have.
 */
export function tryOut(
  transaction: Transaction,
  trial: Trial,
  { id, merchant_id, requestId, facts = {}, rejection = { reason: 'other', message: null }, amount }: TryOut,
): Promise<Payment> {
  const of = { merchant_id, mode: 'test' } as const;
  const act: Act = { actor: TEST, request_id: requestId };
  const decided = { decided_at: transaction.now, ...UNCLAIMED };
  switch (trial) {
    case 'submit': {
      const { method } = SUBMISSION;
      const written = submitted(transaction, SUBMISSION);
      return transition(transaction, of, id, 'submit', act, written, { method, ...facts });
    }
    case 'approve':
      return transition(transaction, of, id, 'approve', act, decided, facts);
    case 'reject': {
      const { reason, message } = rejection;
      const written = { ...decided, status_reason: toldReason(reason), review_message: message };
      return transition(transaction, of, id, 'reject', act, written, { reason, ...facts });
    }
    case 'expire':
      return expireNow(transaction, of, id, act, facts);
    case 'record':
      return recordMoneyToday(transaction, of, id, act, facts, amount);
    case 'request_link':
      return requestLinkOf(transaction, of, id, act, facts);
  }
}

/** Ends the payment's time now, and lets the clock cancel it: so an expired payment is what it always is. */
async function expireNow(
  transaction: Transaction,
  tenant: Tenant,
  id: string,
  act: Act,
  facts: Facts,
): Promise<Payment> {
  const { now } = transaction;
  const seen = await lockRow(transaction, PAYMENTS, id);
  if (seen?.merchant_id !== tenant.merchant_id || seen.mode !== tenant.mode) throw paymentNotFound();
  await refuseChangedOutside(transaction, seen);
  const pending = { is: tenant, status: ['pending'], expiry: 'ahead' } as const;
  const ended = await changePayment(transaction, id, pending, { expires_at: now, updated_at: now });
  if (!ended) throw wrongStatus(asOf((await findPaymentOf(transaction, tenant, id))!, now).status, 'expire');
  await recordPayment(transaction, act, 'payment.expiry_moved', seen, ended, {
    from: seen.expires_at,
    to: now,
    ...facts,
  });
  await expireDuePayment(transaction, id);
  return (await findPaymentOf(transaction, tenant, id))!;
}

/** Records that `amount`, or all that was asked for, arrived today, as an administrator would. */
async function recordMoneyToday(
  transaction: Transaction,
  tenant: Tenant,
  id: string,
  act: Act,
  facts: Facts,
  amount?: number,
): Promise<Payment> {
  await expireDuePayment(transaction, id);
  const seen = await lockRow(transaction, PAYMENTS, id);
  if (seen?.merchant_id !== tenant.merchant_id || seen.mode !== tenant.mode) throw paymentNotFound();
  await refuseChangedOutside(transaction, seen);
  const { now } = transaction;
  const { amount_minor, currency } = seen;
  const received = amount === undefined ? { minor: amount_minor } : parseAmount(amount, currency);
  if ('fault' in received) throw validationFailed({ amount: received.fault });
  const received_minor = received.minor;
  const status_reason = seen.status === 'cancelled' ? ('payment_received' as const) : null;
  const written = { status_reason, submitted_at: now, received_minor } as const;
  const moved = await movePayment(transaction, 'record', id, { is: tenant }, written);
  if (!moved) throw wrongStatus(seen.status, 'record');
  await recordPayment(transaction, act, 'payment.requires_review', seen, moved, {
    from: seen.status,
    reason: status_reason,
    received_minor,
    currency,
    received_on: lastDays('UTC', now, 1)[0]!.date,
    arrived_minor: received_minor,
    ...facts,
  });
  return moved;
}

/** Asks for a new link to an expired payment, as its customer would. */
async function requestLinkOf(
  transaction: Transaction,
  tenant: Tenant,
  id: string,
  act: Act,
  facts: Facts,
): Promise<Payment> {
  if (!(await findPaymentOf(transaction, tenant, id))) throw paymentNotFound();
  return requestLink(transaction, id, act.request_id ?? '', TEST, facts);
}
