// The entry that every change of a payment leaves in the history.
import type { Act } from '../journal/audit-entry.ts';
import { type Facts, recordRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { PAYMENTS, type Payment } from './payment.ts';

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
