// The entry that every change of a payment leaves in the history.
import type { Act } from '../journal/audit-entry.ts';
import {
  changedOutside,
  type Facts,
  isAsRecorded,
  type RecordReader,
  recordRow,
} from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { PAYMENTS, type Payment } from './payment.ts';
import { findPayment } from './queries.ts';

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
