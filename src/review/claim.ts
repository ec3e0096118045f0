// Takes a payment to review it, for ten minutes, so that two administrators do not do the same work.
import type { Principal } from '../administrators/administrator.ts';
import type { Transaction } from '../journal/transaction.ts';
import { CLAIM_MS, claimOf, type Payment } from '../payments/payment.ts';
import { actOn, refuseOtherStatus, refuseOthersClaim } from './act.ts';

/**
 * Claims a payment for review, or renews one's own claim; `force` takes it from another administrator, which the history says. Commit it
 * with the payment's id as `row`. Throws `not_found`, `invalid_status` (who decided, when), `conflict` if another has it (who, until
 * when).
 */
export function claim(
  transaction: Transaction,
  principal: Principal,
  id: string,
  { force = false }: { force?: boolean },
): Promise<Payment> {
  return actOn(transaction, principal, id, async (seen) => {
    await refuseOtherStatus(transaction, transaction, seen, 'approve');
    if (!force) await refuseOthersClaim(transaction, seen, principal);
    const before = claimOf(seen, transaction.now);
    const taken_from = before && before.by !== principal.id ? before.by : null;
    const until = transaction.now + CLAIM_MS;
    return {
      written: { claimed_by: principal.id, claimed_until: until },
      action: 'payment.claimed',
      facts: { until, taken_from },
    };
  });
}

/**
 * Lets one's own claim go; where one has none, nothing changes. Commit it with the payment's id as `row`. Throws `not_found`.
 */
export function release(transaction: Transaction, principal: Principal, id: string): Promise<Payment> {
  return actOn(transaction, principal, id, async (seen) => {
    if (claimOf(seen, transaction.now)?.by !== principal.id) return undefined;
    return { written: { claimed_by: null, claimed_until: null }, action: 'payment.released' };
  });
}
