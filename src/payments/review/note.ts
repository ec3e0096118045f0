// Adds an administrator's note to a payment, in any status: for administrators alone.
import type { Principal } from '../../administrators/administrator.ts';
import type { Transaction } from '../../journal/transaction.ts';
import type { Payment } from '../payment.ts';
import { actOn, withAct } from './act.ts';

/**
 * Adds a note, checked before by `parseNote`, whoever has claimed the payment. Commit it with the payment's id as `row`. Raises
 * `not_found`.
 */
export function addNote(
  transaction: Transaction,
  principal: Principal,
  id: string,
  text: string,
  requestId: string,
): Promise<Payment> {
  return actOn(transaction, principal, id, requestId, async (seen) => ({
    written: { review: withAct(transaction, seen, principal, { act: 'note', note: text }) },
    action: 'payment.noted',
    whoeverHasIt: true,
  }));
}
