// Approves and rejects. One statement decides, so a second reviewer is refused and reads who decided and when.

import type { Principal } from '../administrators/administrator.ts';
import { barredAmong } from '../administrators/queries.ts';
import type { Facts } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { spoken } from '../lib/phrases.ts';
import { MOVES, type Move, type Payment, type StatusReason } from '../payments/payment.ts';
import { actOn, refuseOtherStatus, refuseOthersClaim, refuseOtherVersion, withAct } from './act.ts';
import {
  type Approval,
  approvalsOf,
  needsSecond,
  type Rejection,
  type RejectReason,
  reviewersOf,
} from './review.ts';
import { momentInWords } from './told.ts';

export interface Decision {
  /** As it is now. */
  payment: Payment;
  /** `awaiting_second`: recorded as the first of two approvals, and still under review. */
  outcome: 'approved' | 'awaiting_second' | 'rejected';
}

export const UNCLAIMED = { claimed_by: null, claimed_until: null };

/**
 * Approves a payment under review; above the amount in `fourEyesAbove` (minor units by currency) the first approval is recorded and
 * that of another administrator approves; that of one who may not decide any more does not count. Commit it with the payment's id as
 * `row`. Throws `not_found`; `invalid_status`, which says who decided and when; `conflict` where another has claimed it or its version is
 * not `approval.version`; `forbidden` where the same administrator would be both.
 */
export async function approve(
  transaction: Transaction,
  principal: Principal,
  id: string,
  approval: Approval,
  fourEyesAbove: Readonly<Record<string, number>>,
): Promise<Decision> {
  const { note, bank_reference, version } = approval;
  const payment = await actOn(transaction, principal, id, async (seen) => {
    await refuseUnlessFree(transaction, seen, principal, version, 'approve');
    const before = approvalsOf(seen, await barredAmong(transaction, reviewersOf([seen])));
    // A second approval by the same administrator is refused, even if the limit has changed since.
    const own = before.find(({ by }) => by === principal.id);
    if (own && before.every(({ by }) => by === principal.id))
      throw new OperationalError(
        'forbidden',
        spoken(
          (say) =>
            say`You approved it on ${momentInWords(own.at, transaction.timeZone, say)}; another administrator must confirm.`,
        ),
      );
    const done = withAct(transaction, seen, principal, { act: 'approve', note, bank_reference });
    if (before.length === 0 && needsSecond(seen, fourEyesAbove)) {
      const facts = { ...amountOf(seen), above_minor: fourEyesAbove[seen.currency]! };
      return { written: { ...done, ...UNCLAIMED }, action: 'payment.approval_recorded', facts };
    }
    const facts = { from: MOVES.approve.from[0], ...amountOf(seen), approvals: before.length + 1 };
    return { move: 'approve', written: decided(transaction, done), action: 'payment.approved', facts };
  });
  return { payment, outcome: payment.status === 'approved' ? 'approved' : 'awaiting_second' };
}

/** Rejects a payment under review, which one administrator may always do. Throws as `approve` does, but for `forbidden`. */
export async function reject(
  transaction: Transaction,
  principal: Principal,
  id: string,
  rejection: Rejection,
): Promise<Decision> {
  const { reason, note, message, version } = rejection;
  const payment = await actOn(transaction, principal, id, async (seen) => {
    await refuseUnlessFree(transaction, seen, principal, version, 'reject');
    const done = withAct(transaction, seen, principal, { act: 'reject', reason, note, message });
    const facts = { from: MOVES.reject.from[0], reason, ...amountOf(seen) };
    const written = {
      ...decided(transaction, done),
      review_message: message,
      status_reason: toldReason(reason),
    };
    return { move: 'reject', written, action: 'payment.rejected', facts };
  });
  return { payment, outcome: 'rejected' };
}

/** Decided, then claimed, then changed: the most important reason is given. */
async function refuseUnlessFree(
  transaction: Transaction,
  payment: Payment,
  principal: Principal,
  version: number | null,
  move: Move,
): Promise<void> {
  await refuseOtherStatus(transaction, transaction, payment, move);
  await refuseOthersClaim(transaction, payment, principal);
  await refuseOtherVersion(transaction, payment, version);
}

function decided({ now }: Transaction, done: ReturnType<typeof withAct>) {
  return { decided_at: now, ...done, ...UNCLAIMED };
}

/** The reason as the merchant and the customer see it. A suspicion of fraud is not shown to them. */
export function toldReason(reason: RejectReason): StatusReason {
  return reason === 'suspected_fraud' ? 'other' : reason;
}

function amountOf({ amount_minor, currency }: Payment): Facts {
  return { amount_minor, currency };
}
