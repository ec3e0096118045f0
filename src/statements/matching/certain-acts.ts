// Approves the certain pairs of bank lines and payments in one commit, and leaves what has changed.

import type { Principal } from '../../administrators/administrator.ts';
import { requireStanding } from '../../administrators/standing.ts';
import { isAsRecorded, lockRow } from '../../journal/record-row.ts';
import type { Transaction } from '../../journal/transaction.ts';
import type { Say, Sentence } from '../../lib/phrases.ts';
import { claimOf, PAYMENTS } from '../../payments/payment.ts';
import { isPaymentAsRecorded } from '../../payments/transition.ts';
import type { Decision } from '../../review/decide.ts';
import { reviewActs } from '../../review/review.ts';
import { whoClaimed } from '../../review/told.ts';
import { LINES } from '../kept.ts';
import { holdLine, linesOfPayments } from '../line-queries.ts';
import { acceptLine, approveLine, doneByLine, type LinePair } from './line-acts.ts';
import type { CertainPair } from './open-lines.ts';

/** Why `approveCertain` left a line alone. */
export interface LeftLine {
  line_id: string;
  payment_id: string;
  why: Sentence;
}

/**
 * Approves pairs, in one commit: those that `certain` holds (`certainPairs`, asked a moment ago) and that are unchanged since they
 * were looked at. Links those whose payment is approved already. Leaves the others, and says why. A payment above the four-eyes limit
 * gets its first approval. Throws `unauthorized`, `forbidden` and `DatabaseError`.
 */
export async function approveCertain(
  transaction: Transaction,
  principal: Principal,
  pairs: readonly LinePair[],
  certain: readonly CertainPair[],
  fourEyesAbove: Readonly<Record<string, number>>,
): Promise<{ decisions: Decision[]; linked: LinePair[]; left: LeftLine[] }> {
  await requireStanding(transaction, principal, 'decide');
  const decisions: Decision[] = [];
  const linked: LinePair[] = [];
  const left: LeftLine[] = [];
  // Every node takes rows in the order of their names.
  const inOrder = pairs.toSorted((a, b) => (a.payment_id < b.payment_id ? -1 : 1));
  for (const pair of inOrder) {
    const done = await doneByLine(transaction, principal, pair);
    if (done) {
      decisions.push(done);
      continue;
    }
    const sure = certain.find(
      ({ line, payment }) => line.id === pair.line_id && payment.id === pair.payment_id,
    );
    const why = sure
      ? await whyNot(transaction, principal, pair)
      : (say: Say) => say`It is not certain any more.`;
    if (why === undefined && sure?.payment.status === 'approved') {
      await acceptLine(transaction, principal, pair);
      linked.push(pair);
    } else if (why === undefined)
      decisions.push(await approveLine(transaction, principal, pair, fourEyesAbove));
    else left.push({ line_id: pair.line_id, payment_id: pair.payment_id, why });
  }
  return { decisions, linked, left };
}

/** Why a pair that is certain is not to be approved now; undefined if nothing is in the way. */
async function whyNot(
  transaction: Transaction,
  principal: Principal,
  { line_id, payment_id, version }: LinePair,
): Promise<Sentence | undefined> {
  // Hold both until this transaction ends: a pair that fails half written would take the others with it.
  const payment = await lockRow(transaction, PAYMENTS, payment_id);
  const line = await holdLine(transaction, line_id);
  if (line?.state !== 'open' || !payment) return (say) => say`Another administrator was first.`;
  if (payment.version !== version) return (say) => say`The payment has changed since you looked at it.`;
  if ((await linesOfPayments(transaction, [payment_id])).length > 0)
    return (say) => say`Another line was matched with the payment.`;
  if (!(await isAsRecorded(transaction, LINES, line)))
    return (say) => say`The line was changed in the store itself.`;
  if (!(await isPaymentAsRecorded(transaction, payment)))
    return (say) => say`The payment was changed in the store itself.`;
  if (payment.status !== 'approved' && reviewActs(payment).some(({ act }) => act === 'approve'))
    return (say) => say`It has a first approval: decide it on its page.`;
  const claim = claimOf(payment, transaction.now);
  return claim && claim.by !== principal.id
    ? await whoClaimed(transaction, claim, transaction.timeZone)
    : undefined;
}
