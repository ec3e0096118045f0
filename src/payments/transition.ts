// Moves a payment along the table of moves, and leaves an entry in the history of every change of a payment.

import type { Act } from '../journal/audit-entry.ts';
import {
  changedOutside,
  type Facts,
  isAsRecorded,
  type RecordReader,
  recordRow,
} from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { asOf, MOVES, type Move, PAYMENTS, type Payment, type Status } from './payment.ts';
import { findPayment, findPaymentOf, movePayment, type Tenant, type Written } from './queries.ts';

/** The same for an id that is unknown, malformed, or another merchant's. */
export function paymentNotFound(): OperationalError {
  return new OperationalError('not_found', 'There is no such payment.');
}

/** A payment is not in the status that a move starts from. */
export function wrongStatus(status: Status, move: Move): OperationalError {
  const { from, to } = MOVES[move];
  return new OperationalError(
    'invalid_status',
    `The payment is ${status}; only a ${from.join(' or ')} payment can become ${to}.`,
  );
}

/**
 * Moves a payment of `tenant`, or of anyone if undefined, and records it. Throws `not_found`, and `invalid_status` if the payment is not
 * where the move starts or its time has passed, and what `refuseChangedOutside` throws. Administrators' moves go through `actOn`, which
 * also guards version and claim.
 */
export async function transition(
  transaction: Transaction,
  tenant: Tenant | undefined,
  id: string,
  move: Exclude<Move, 'record'>,
  act: Act,
  written: Written,
  facts: Facts = {},
): Promise<Payment> {
  for (let seen: Payment | undefined; ; ) {
    const payment = await (tenant ? findPaymentOf(transaction, tenant, id) : findPayment(transaction, id));
    if (!payment) throw paymentNotFound();
    // Another node changed it since it was seen if its version is another: look at it again.
    if (payment.version === seen?.version) throw wrongStatus(asOf(payment, transaction.now).status, move);
    seen = payment;
    await refuseChangedOutside(transaction, payment);
    const guard = { is: { ...tenant, version: payment.version } };
    const moved = await movePayment(transaction, move, id, guard, written);
    if (!moved) continue;
    await recordPayment(transaction, act, `payment.${moved.status}`, payment, moved, {
      from: MOVES[move].from[0],
      reason: moved.status_reason,
      ...facts,
    });
    return moved;
  }
}

/** Records a change of a payment. `facts` hold no personal data. Throws what `recordRow` does. */
export function recordPayment(
  transaction: Transaction,
  act: Act,
  action: string,
  before: Payment,
  after: Payment,
  facts: Facts = {},
): Promise<void> {
  return recordRow(transaction, act, action, PAYMENTS, { before, after }, facts);
}

/**
 * Whether a payment that was just read is as its newest entry left it. If not, it was changed in the store itself. Throws `DatabaseError`
 * and `HistoryBroken`.
 */
export async function isPaymentAsRecorded(database: RecordReader, payment: Payment): Promise<boolean> {
  if (await isAsRecorded(database, PAYMENTS, payment)) return true;
  // It may have been changed between the two reads, or shown as expired before the store says so.
  for (let version: number | undefined; ; ) {
    const seen = await findPayment(database, payment.id);
    if (!seen || (await isAsRecorded(database, PAYMENTS, seen))) return true;
    if (seen.version === version) return false;
    version = seen.version;
  }
}

/**
 * Throws `conflict` if a payment was changed in the store itself and the change is not acknowledged. Because: the entry of a further
 * change would record the changed row, and `audit verify` could not find it any more.
 */
export async function refuseChangedOutside(database: RecordReader, payment: Payment): Promise<void> {
  if (!(await isPaymentAsRecorded(database, payment))) throw changedOutside('The payment');
}
