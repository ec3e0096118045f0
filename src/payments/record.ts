// The entry that every change of a payment leaves in the history.
import type { Act } from '../journal/audit-entry.ts';
import { type Facts, isAsRecorded, type RecordReader, recordRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { PAYMENTS, type Payment } from './payment.ts';
import { findPayment } from './queries.ts';

/** Records a change of `payment`, given as it is after it. `facts` hold no personal data. */
export function recordPayment(
  transaction: Transaction,
  act: Act,
  action: string,
  payment: Payment,
  facts: Facts = {},
): void {
  recordRow(transaction, act, action, PAYMENTS, payment, facts);
}

/**
 * Whether a payment is as its newest entry left it, or is gone. If not, somebody changed it in the store itself. Throws `DatabaseError`
 * and `HistoryBroken`.
 */
export async function isPaymentAsRecorded(database: RecordReader, id: string): Promise<boolean> {
  for (let version: number | undefined; ; ) {
    const payment = await findPayment(database, id);
    if (!payment || (await isAsRecorded(database, PAYMENTS, payment))) return true;
    // On PostgreSQL another node may have changed it between the two reads.
    if (payment.version === version) return false;
    version = payment.version;
  }
}
