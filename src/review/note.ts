// Adds an administrator's note to a payment, in any status: for administrators alone.

import type { Principal } from '../administrators/administrator.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { spoken } from '../lib/phrases.ts';
import type { Payment } from '../payments/payment.ts';
import { actOn, withAct } from './act.ts';
import { reviewActs } from './review.ts';

/** They stand in the payment's row, which each act writes anew. */
const NOTES_MAXIMUM = 50;

/**
 * Adds a note, checked before by `parseNote`; a claim of another administrator does not matter. Commit it with the payment's id as `row`.
 * Throws `not_found`, and `conflict` if there are too many.
 */
export function addNote(
  transaction: Transaction,
  principal: Principal,
  id: string,
  text: string,
): Promise<Payment> {
  return actOn(transaction, principal, id, async (seen) => {
    const last = reviewActs(seen).at(-1);
    // The form was sent twice, by a second click.
    if (last?.act === 'note' && last.by === principal.id && last.note === text) return undefined;
    if (reviewActs(seen).filter(({ act }) => act === 'note').length >= NOTES_MAXIMUM)
      throw new OperationalError(
        'conflict',
        spoken((say) => say`A payment takes ${NOTES_MAXIMUM} notes, and this one has them.`),
      );
    return {
      written: withAct(transaction, seen, principal, { act: 'note', note: text }),
      action: 'payment.noted',
    };
  });
}
