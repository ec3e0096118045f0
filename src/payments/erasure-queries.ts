// The SQL that erases the answers about a payment.
import type { Transaction } from '../journal/transaction.ts';

/** Deletes the answers that speak of a payment: each was kept at the moment of one of its entries. */
export function deleteAnswersOf(transaction: Transaction, payment: string): Promise<{ scope: string }[]> {
  return transaction.change<{ scope: string }>(
    `delete from idempotency_keys where created_at in (select at from audit_entries where subject = ?) and body like ?
     returning scope`,
    payment,
    `%${payment}%`,
  );
}
