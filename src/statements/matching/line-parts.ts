// One bank line for several payments: it is split into a part for each, and the parts are lines that are matched as any other.

import type { Principal } from '../../administrators/administrator.ts';
import { requireStanding } from '../../administrators/standing.ts';
import { newSalt } from '../../journal/audit-entry.ts';
import { recordNewRow } from '../../journal/record-row.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { OperationalError } from '../../lib/errors.ts';
import { timeOrderedId } from '../../lib/ids.ts';
import type { Payment } from '../../payments/payment.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { holdPayment } from '../../review/queries.ts';
import { LINE_ID_PREFIX, LINES } from '../kept.ts';
import { findLine, partsOfLine } from '../line-queries.ts';
import type { Proposal } from './judge-line.ts';
import { acceptLine, type LinePair, lineNotFound, openLine, unmatch, writeLine } from './line-acts.ts';

/** The payments that a line is proposed for together; none if their amounts do not come to its amount. */
export function severalOf(
  { amount_minor }: { amount_minor: number },
  proposals: readonly Proposal[],
): Payment[] {
  const payments = proposals.filter((one) => one.case === 'several').map(({ payment }) => payment);
  return payments.length > 1 && sumOf(payments) === amount_minor ? payments : [];
}

const sumOf = (payments: readonly Payment[]) =>
  payments.reduce((sum, { amount_minor }) => sum + amount_minor, 0);

/**
 * Says that a line is the money of several payments whose amounts come to its own: it is split into a part for each. Throws as
 * `acceptLine` does for any of them, then nothing is matched; `invalid_status` if the amounts do not come to the line's.
 */
export async function acceptParts(
  transaction: Transaction,
  principal: Principal,
  lineId: string,
  pairs: readonly Omit<LinePair, 'line_id'>[],
  requestId: string,
): Promise<void> {
  const payments: Payment[] = [];
  // Every node takes payments in the order of their ids, and the line behind them.
  for (const { payment_id } of pairs.toSorted((a, b) => (a.payment_id < b.payment_id ? -1 : 1))) {
    const payment = await holdPayment(transaction, payment_id);
    if (!payment) throw paymentNotFound();
    payments.push(payment);
  }
  const line = await openLine(transaction, lineId);
  const isOnce = new Set(payments.map(({ id }) => id)).size === payments.length;
  if (payments.length < 2 || !isOnce || sumOf(payments) !== line.amount_minor)
    throw new OperationalError('invalid_status', 'The payments do not come to the amount of the line.');
  const facts = { parts: payments.length };
  await writeLine(transaction, line, { state: 'split' }, 'line.split', principal, requestId, facts);
  const { now } = transaction;
  for (const [place, { id: payment_id, amount_minor }] of payments.entries()) {
    const part = {
      ...line,
      id: timeOrderedId(LINE_ID_PREFIX, now),
      fingerprint: `${line.fingerprint}/${line.version}.${place}`,
      // An import takes money with this reference for known. The whole line has it.
      entry_reference: null,
      part_of_minor: line.amount_minor,
      amount_minor,
      salt: newSalt(),
      version: 1,
      created_at: now,
      updated_at: now,
    };
    await transaction.insertNow(LINES, part);
    const act = { actor: principal.actor, request_id: requestId };
    recordNewRow(transaction, act, 'line.part_added', LINES, part, { line: line.id });
    const { version } = pairs.find((pair) => pair.payment_id === payment_id)!;
    await acceptLine(transaction, principal, { line_id: part.id, payment_id, version }, requestId);
  }
}

/**
 * Takes back that a line was split: its parts are the money of no payment any more, and it is open again. Throws `not_found`,
 * `invalid_status` if it is not split or a payment is decided, and `conflict`.
 */
export async function reopenParts(
  transaction: Transaction,
  principal: Principal,
  lineId: string,
  requestId: string,
): Promise<void> {
  await requireStanding(transaction, principal, 'decide');
  const line = await findLine(transaction, lineId);
  if (!line) throw lineNotFound();
  if (line.state !== 'split') throw new OperationalError('invalid_status', 'The line is not split.');
  const parts = await partsOfLine(transaction, line);
  for (const part of parts.toSorted((a, b) => ((a.payment_id ?? '') < (b.payment_id ?? '') ? -1 : 1))) {
    await unmatch(transaction, principal, part, requestId);
    // The whole line says what the bank wrote.
    const gone = { state: 'replaced', payment_id: null, note: null, details: null } as const;
    await writeLine(transaction, part, gone, 'line.replaced', principal, requestId);
  }
  await writeLine(transaction, line, { state: 'open' }, 'line.reopened', principal, requestId);
}
