// The entry that every change of a payment leaves: who, what, when, and the digest of the row as it stands now.
import { rowDigest } from '../journal/audit-entry.ts';
import type { Transaction } from '../journal/transaction.ts';
import { PAYMENT_COLUMNS, type Payment } from './payment.ts';

/** Who does something, and the request they did it by. */
export interface Act {
  actor: string;
  request_id: string | null;
}

export type Facts = Record<string, string | number | null>;

/** Records a change of `payment`, given as it is after it. `facts` hold no personal data. */
export function recordPayment(
  transaction: Transaction,
  act: Act,
  action: string,
  payment: Payment,
  facts: Facts = {},
): void {
  transaction.record({
    actor: act.actor,
    action,
    subject: payment.id,
    request_id: act.request_id,
    facts: { ...facts, row: rowDigest(PAYMENT_COLUMNS, payment) },
  });
}
