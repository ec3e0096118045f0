// One bank line for payments that a reviewer names: it is split into a part for each, and the parts are matched as any other line.

import type { Principal } from '../../administrators/administrator.ts';
import { requireStanding } from '../../administrators/standing.ts';
import { newSalt } from '../../journal/audit-entry.ts';
import { lockRow, recordNewRow } from '../../journal/record-row.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { OperationalError } from '../../lib/errors.ts';
import { timeOrderedId } from '../../lib/ids.ts';
import { phrase } from '../../lib/phrases.ts';
import { PAYMENTS, type Payment, sumMinor } from '../../payments/payment.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { restOf, sumOf } from '../../review/review.ts';
import { exactMinor, type KeptLine, LINE_ID_PREFIX, LINES, saidOn, writeLine } from '../kept.ts';
import { findLine, partsOfLine } from '../line-queries.ts';
import type { Proposal } from './judge-line.ts';
import {
  acceptLine,
  ignoreLine,
  isMatchedBy,
  isOpenAgain,
  type LinePair,
  lineNotFound,
  openLine,
  unmatch,
} from './line-acts.ts';
import type { BankLine } from './line-evidence.ts';
import { togetherOf } from './propose.ts';

/** The payments that a line is proposed for together: their amounts come to its own, or to that and the bank's charges. Else none. */
export function severalOf(
  line: Pick<BankLine, 'amount_minor' | 'chargesMinor'>,
  proposals: readonly Proposal[],
): Payment[] {
  const payments = proposals.filter((one) => one.case === 'several').map(({ payment }) => payment);
  return payments.length > 1 && togetherOf(line, payments) ? payments : [];
}

/** What of a line is the money of a payment: hundredths, by default what the payment still asks for. */
export interface LinePart extends Omit<LinePair, 'line_id'> {
  amount_minor?: number | undefined;
}

/**
 * Says that a line is the money of payments: it is split into a part for each. What is left over is a part that stays open. If the parts
 * come to more than the line, `charges` says why: the difference is a debit of its own, so that sums and reports add up. Where
 * `principal` did that already, nothing is done: a button was pressed twice. Throws as
 * `acceptLine` does for any of them, then nothing is matched; `invalid_status` if a payment is named twice, or without `charges` the
 * parts come to more than the line.
 */
export async function acceptParts(
  transaction: Transaction,
  principal: Principal,
  lineId: string,
  parts: readonly LinePart[],
  charges: string | null = null,
): Promise<void> {
  const payments: Payment[] = [];
  const found: (LinePart & { amount_minor: number })[] = [];
  // Every node takes payments in the order of their ids, and the line behind them.
  for (const part of parts.toSorted((a, b) => (a.payment_id < b.payment_id ? -1 : 1))) {
    const payment = await lockRow(transaction, PAYMENTS, part.payment_id);
    if (!payment) throw paymentNotFound();
    payments.push(payment);
    found.push({ ...part, amount_minor: part.amount_minor ?? restOf(payment) });
  }
  if (await isSplitBy(transaction, principal, lineId, parts, payments)) return;
  const line = await openLine(transaction, lineId);
  const left = sumMinor([exactMinor(line), -sumOf(found)]);
  const isOnce = new Set(found.map(({ payment_id }) => payment_id)).size === found.length;
  if (found.length === 0 || !isOnce || (left < 0 && charges === null))
    throw new OperationalError(
      'invalid_status',
      phrase('The payments do not come to the amount of the line.'),
    );
  const facts = { parts: found.length };
  await writeLine(transaction, principal, 'line.split', line, { state: 'split' }, { facts });
  const add = partsOf(transaction, principal, line);
  for (const [place, { payment_id, amount_minor, version, as }] of found.entries()) {
    const { id } = await add(place, { amount_minor });
    await acceptLine(transaction, principal, { line_id: id, payment_id, version, as });
  }
  if (left > 0) await add(found.length, { amount_minor: left });
  if (left >= 0) return;
  // Without the words of the line, whose reference would say that money of a payment went back.
  const fee = await add(found.length, { amount_minor: -left, direction: 'debit', details: null });
  await ignoreLine(transaction, principal, fee.id, charges!);
}

/** Whether it was `principal` who split a line for just these payments, with the amounts that are said. */
async function isSplitBy(
  transaction: Transaction,
  principal: Principal,
  lineId: string,
  parts: readonly LinePart[],
  payments: readonly Payment[],
): Promise<boolean> {
  const line = await findLine(transaction, lineId);
  if (line?.state !== 'split') return false;
  const stand = await partsOfLine(transaction, line);
  const matched = stand.filter(({ payment_id }) => payment_id !== null);
  return (
    matched.length === parts.length &&
    matched.every((one) => {
      const payment = payments.find(({ id }) => id === one.payment_id);
      const part = parts.find(({ payment_id }) => payment_id === one.payment_id);
      const isSaid = (part?.amount_minor ?? exactMinor(one)) === exactMinor(one);
      return payment !== undefined && isSaid && isMatchedBy(one, payment, principal);
    })
  );
}

/** What adds parts to a line that is split, each by its place. */
function partsOf(transaction: Transaction, { actor, request_id }: Principal, line: KeptLine) {
  return async (place: number, changed: Partial<KeptLine>): Promise<KeptLine> => {
    const { now } = transaction;
    const { details = line.details, amount_minor: minor = 0 } = changed;
    const third = Math.round(sumMinor([minor, -Math.floor(minor)]) * 10);
    const part: KeptLine = {
      ...line,
      id: timeOrderedId(LINE_ID_PREFIX, now),
      fingerprint: `${line.fingerprint}/${line.version}.${place}`,
      // An import takes money with this reference for known. The whole line has it.
      entry_reference: null,
      part_of_minor: line.amount_minor,
      ...{ state: 'open', salt: newSalt(), version: 1, created_at: now, updated_at: now },
      ...changed,
      amount_minor: Math.floor(minor),
      ...(third > 0 && { details: JSON.stringify({ ...saidOn({ details }), third }) }),
    };
    await transaction.insertNow(LINES, part);
    recordNewRow(transaction, { actor, request_id }, 'line.part_added', LINES, part, { line: line.id });
    return part;
  };
}

/**
 * Takes back that a line was split: its parts are the money of no payment any more, and it is open again. Throws `not_found`,
 * `invalid_status` if it is not split or a payment is decided, and `conflict`.
 */
export async function reopenParts(
  transaction: Transaction,
  principal: Principal,
  lineId: string,
): Promise<void> {
  await requireStanding(transaction, principal, 'decide');
  const line = await findLine(transaction, lineId);
  if (!line) throw lineNotFound();
  if (isOpenAgain(line)) return;
  if (line.state !== 'split') throw new OperationalError('invalid_status', phrase('The line is not split.'));
  const parts = await partsOfLine(transaction, line);
  for (const part of parts.toSorted((a, b) => ((a.payment_id ?? '') < (b.payment_id ?? '') ? -1 : 1))) {
    await unmatch(transaction, principal, part);
    // The whole line says what the bank wrote.
    const gone = { state: 'replaced', payment_id: null, note: null, details: null } as const;
    await writeLine(transaction, principal, 'line.replaced', part, gone);
  }
  await writeLine(transaction, principal, 'line.reopened', line, { state: 'open' });
}
