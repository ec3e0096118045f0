// What administrators do with a bank line: accept it as the money of a payment, ignore it with a reason, or take that back.
import type { Principal } from '../administrators/administrator.ts';
import { requireStanding } from '../administrators/standing.ts';
import { isAsRecorded, recordRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { textFault } from '../lib/text.ts';
import { asOf, type Payment } from '../payments/payment.ts';
import { findPayment } from '../payments/queries.ts';
import { isPaymentAsRecorded } from '../payments/record.ts';
import { paymentNotFound } from '../payments/transition.ts';
import { type KeptLine, LINES } from '../statements/kept.ts';
import { changeLine, findLine, type LineWritten } from '../statements/line-queries.ts';
import { claimOf } from './claim-time.ts';
import { approve, type Decision } from './decide.ts';
import { bankLine, mayMatch } from './line-evidence.ts';
import type { CertainPair } from './open-lines.ts';
import { recordMoney } from './record-money.ts';
import { BANK_REFERENCE_MAXIMUM, reviewActs } from './review.ts';
import { whoClaimed } from './told.ts';

/** The longest reason for ignoring a line, in code points. */
export const IGNORE_REASON_MAXIMUM = 500;

/** What is wrong with a reason for ignoring a line, or undefined. */
export function ignoreReasonFault(reason: string): string | undefined {
  return reason === '' ? 'Say why no payment is meant' : textFault(reason, IGNORE_REASON_MAXIMUM, true);
}

/** Why `approveCertain` left a line alone. */
export interface LeftLine {
  line_id: string;
  payment_id: string;
  why: string;
}

/** A line and the payment that it is accepted for. `version` is the payment's as it was looked at. */
export interface LinePair {
  line_id: string;
  payment_id: string;
  version: number;
}

/**
 * Says that a line is the money of a payment. A payment that is pending or cancelled is under review from then on, with the amount and the
 * day of the line. Commit it with the payment's id as `row`. Throws `not_found`; `invalid_status` if the line is not an open credit, is
 * in another currency, or the payment is decided; `conflict` if the payment was changed since it was `version`, or the line is not as
 * the history says.
 */
export async function acceptLine(
  transaction: Transaction,
  principal: Principal,
  { line_id, payment_id, version }: LinePair,
  requestId: string,
): Promise<Payment> {
  await requireStanding(transaction, principal, 'decide');
  const line = await openLine(transaction, line_id);
  const payment = await findPayment(transaction, payment_id);
  if (!payment) throw paymentNotFound();
  if (!mayMatch(bankLine(line)))
    throw new OperationalError('invalid_status', 'The line is no credit that was booked.');
  if (line.currency !== payment.currency)
    throw new OperationalError(
      'invalid_status',
      `The line is in ${line.currency}, the payment in ${payment.currency}.`,
    );
  const { status } = asOf(payment, transaction.now);
  if (status === 'approved' || status === 'rejected')
    throw new OperationalError('invalid_status', `The payment is ${status} already.`);
  if (payment.version !== version)
    throw new OperationalError('conflict', 'The payment has changed since you looked at it.');
  const after =
    status === 'requires_review'
      ? payment
      : await recordMoney(
          transaction,
          principal,
          payment_id,
          {
            amount_minor: line.amount_minor,
            received_on: line.day,
            bank_reference: referenceOn(line),
            note: null,
            version,
          },
          requestId,
        );
  await writeLine(transaction, line, { state: 'matched', payment_id }, 'line.matched', principal, requestId, {
    payment: payment_id,
  });
  return after;
}

/** The bank's reference of a line as a payment keeps it. */
export function referenceOn(line: KeptLine): string | null {
  const { references } = bankLine(line);
  return (references.booking ?? references.bank)?.slice(0, BANK_REFERENCE_MAXIMUM) ?? null;
}

/**
 * Accepts a line and approves its payment, or records the first of two approvals. `note` says why, where something is odd. Throws as
 * `acceptLine` and `approve` do.
 */
export async function approveLine(
  transaction: Transaction,
  principal: Principal,
  pair: LinePair,
  fourEyesAbove: Readonly<Record<string, number>>,
  requestId: string,
  note: string | null = null,
): Promise<Decision> {
  const line = await openLine(transaction, pair.line_id);
  await acceptLine(transaction, principal, pair, requestId);
  const approval = { note, bank_reference: referenceOn(line), version: null };
  return approve(transaction, principal, pair.payment_id, approval, fourEyesAbove, requestId);
}

/**
 * Approves pairs, in one commit: those that `certain` holds (`certainPairs`, asked a moment ago) and that are unchanged since they
 * were looked at. Leaves the others, and says why. A payment above the four-eyes limit gets its first approval. Throws `unauthorized`,
 * `forbidden` and `DatabaseError`.
 */
export async function approveCertain(
  transaction: Transaction,
  principal: Principal,
  pairs: readonly LinePair[],
  certain: readonly CertainPair[],
  fourEyesAbove: Readonly<Record<string, number>>,
  requestId: string,
): Promise<{ decisions: Decision[]; left: LeftLine[] }> {
  await requireStanding(transaction, principal, 'decide');
  const decisions: Decision[] = [];
  const left: LeftLine[] = [];
  // Every node takes rows in the order of their names.
  const inOrder = pairs.toSorted((a, b) => (a.payment_id < b.payment_id ? -1 : 1));
  for (const pair of inOrder) {
    const isCertain = certain.some(
      ({ line, payment }) => line.id === pair.line_id && payment.id === pair.payment_id,
    );
    const why = isCertain ? await whyNot(transaction, principal, pair) : 'It is not certain any more.';
    if (why === undefined)
      decisions.push(await approveLine(transaction, principal, pair, fourEyesAbove, requestId));
    else left.push({ line_id: pair.line_id, payment_id: pair.payment_id, why });
  }
  return { decisions, left };
}

/** Why a pair that is certain is not to be approved now; undefined if nothing is in the way. */
async function whyNot(
  transaction: Transaction,
  principal: Principal,
  { line_id, payment_id, version }: LinePair,
): Promise<string | undefined> {
  const line = await findLine(transaction, line_id);
  const payment = await findPayment(transaction, payment_id);
  if (line?.state !== 'open' || !payment) return 'Another administrator was first.';
  if (payment.version !== version) return 'The payment has changed since you looked at it.';
  if (!(await isAsRecorded(transaction, LINES, line))) return 'The line was changed in the store itself.';
  if (!(await isPaymentAsRecorded(transaction, payment)))
    return 'The payment was changed in the store itself.';
  if (reviewActs(payment).some(({ act }) => act === 'approve'))
    return 'It has a first approval: decide it on its page.';
  const claim = claimOf(payment, transaction.now);
  return claim && claim.by !== principal.id ? await whoClaimed(transaction, claim) : undefined;
}

/** Says that a line is of no payment. Throws `not_found`, `invalid_status` if it is not open, and `conflict`. */
export async function ignoreLine(
  transaction: Transaction,
  principal: Principal,
  lineId: string,
  reason: string,
  requestId: string,
): Promise<void> {
  await requireStanding(transaction, principal, 'decide');
  const line = await openLine(transaction, lineId);
  await writeLine(
    transaction,
    line,
    { state: 'ignored', note: reason },
    'line.ignored',
    principal,
    requestId,
  );
}

/**
 * Takes back that a line is ignored, or is the money of an undecided payment. The payment stays as it is. Throws
 * `not_found`, `invalid_status` and `conflict`.
 */
export async function reopenLine(
  transaction: Transaction,
  principal: Principal,
  lineId: string,
  requestId: string,
): Promise<void> {
  await requireStanding(transaction, principal, 'decide');
  const line = await findLine(transaction, lineId);
  if (!line) throw lineNotFound();
  if (line.state !== 'matched' && line.state !== 'ignored')
    throw new OperationalError('invalid_status', 'The line is neither matched nor ignored.');
  const payment = line.payment_id === null ? undefined : await findPayment(transaction, line.payment_id);
  if (payment?.status === 'approved' || payment?.status === 'rejected')
    throw new OperationalError(
      'invalid_status',
      `The payment is ${payment.status}: a decision cannot be taken back.`,
    );
  const open = { state: 'open', payment_id: null, note: null } as const;
  await writeLine(transaction, line, open, 'line.reopened', principal, requestId);
}

export const lineNotFound = () => new OperationalError('not_found', 'There is no such statement line.');

async function openLine(transaction: Transaction, id: string): Promise<KeptLine> {
  const line = await findLine(transaction, id);
  if (!line) throw lineNotFound();
  if (line.state !== 'open')
    throw new OperationalError('invalid_status', `The line is ${line.state} already.`);
  return line;
}

async function writeLine(
  transaction: Transaction,
  line: KeptLine,
  written: LineWritten,
  action: string,
  { actor }: Principal,
  request_id: string,
  facts: Record<string, string> = {},
): Promise<void> {
  if (!(await isAsRecorded(transaction, LINES, line)))
    throw new OperationalError(
      'conflict',
      'The line was changed in the store itself: run counterfoil audit verify.',
    );
  const changed = await changeLine(transaction, line, written);
  if (!changed)
    throw new OperationalError('conflict', 'The line was changed a moment ago. Look at it again.');
  recordRow(transaction, { actor, request_id }, action, LINES, changed, facts);
}
