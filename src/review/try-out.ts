// Trying out: a developer moves a test payment as its customer, its reviewer and the clock would.
import type { Act } from '../journal/audit-entry.ts';
import { type Facts, lockRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { validationFailed } from '../lib/errors.ts';
import { parseAmount } from '../lib/money.ts';
import { lastDays } from '../lib/time.ts';
import { expireDuePayment } from '../payments/expire.ts';
import { asOf, PAYMENTS, type Payment } from '../payments/payment.ts';
import { changePayment, findPayment, movePayment, type Written } from '../payments/queries.ts';
import { requestLink, type Submission, submitted } from '../payments/submit.ts';
import {
  paymentNotFound,
  recordPayment,
  refuseChangedOutside,
  transition,
  wrongStatus,
} from '../payments/transition.ts';
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
export async function tryOut(transaction: Transaction, trial: Trial, asked: TryOut): Promise<Payment> {
  const { id, merchant_id, facts = {}, rejection = { reason: 'other', message: null } } = asked;
  const tenant = { merchant_id, mode: 'test' } as const;
  const act: Act = { actor: TEST, request_id: asked.requestId };
  const decided = { decided_at: transaction.now, ...UNCLAIMED };
  const move = (to: 'submit' | 'approve' | 'reject', written: Written, told: Facts = {}) =>
    transition(transaction, tenant, id, to, act, written, { ...told, ...facts });
  if (trial === 'submit')
    return move('submit', submitted(transaction, SUBMISSION), { method: SUBMISSION.method });
  if (trial === 'approve') return move('approve', decided);
  if (trial === 'reject') {
    const { reason, message } = rejection;
    const written = { ...decided, status_reason: toldReason(reason), review_message: message };
    return move('reject', written, { reason });
  }
  if (trial !== 'expire') await expireDuePayment(transaction, id);
  const seen = await lockRow(transaction, PAYMENTS, id);
  if (seen?.merchant_id !== merchant_id || seen.mode !== 'test') throw paymentNotFound();
  if (trial === 'request_link') return requestLink(transaction, id, asked.requestId, TEST, facts);
  await refuseChangedOutside(transaction, seen);
  return trial === 'expire'
    ? expireNow(transaction, seen, act, facts)
    : recordMoneyToday(transaction, seen, act, facts, asked.amount);
}

/** Ends the payment's time now, and lets the clock cancel it: so an expired payment is what it always is. */
async function expireNow(transaction: Transaction, seen: Payment, act: Act, facts: Facts): Promise<Payment> {
  const { now } = transaction;
  const { id } = seen;
  const guard = { status: ['pending'], expiry: 'ahead' } as const;
  const ended = await changePayment(transaction, id, guard, { expires_at: now, updated_at: now });
  if (!ended) throw wrongStatus(asOf(seen, now).status, 'expire');
  const moved = { from: seen.expires_at, to: now, ...facts };
  await recordPayment(transaction, act, 'payment.expiry_moved', seen, ended, moved);
  await expireDuePayment(transaction, id);
  return (await findPayment(transaction, id))!;
}

/** Records that `amount`, or all that was asked for, arrived today, as an administrator would. */
async function recordMoneyToday(
  transaction: Transaction,
  seen: Payment,
  act: Act,
  facts: Facts,
  amount?: number,
): Promise<Payment> {
  const { now } = transaction;
  const { amount_minor, currency } = seen;
  const received = amount === undefined ? { minor: amount_minor } : parseAmount(amount, currency);
  if ('fault' in received) throw validationFailed({ amount: received.fault });
  const received_minor = received.minor;
  const status_reason = seen.status === 'cancelled' ? ('payment_received' as const) : null;
  const written = { status_reason, submitted_at: now, received_minor } as const;
  const moved = await movePayment(transaction, 'record', seen.id, {}, written);
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
