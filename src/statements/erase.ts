// Erases what the bank wrote on lines: with the payment that they are the money of, or when they are old; the proof stays.
import type { Act } from '../journal/audit-entry.ts';
import { newSalt } from '../journal/audit-entry.ts';
import { changeRow, isAsRecorded } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { type KeptLine, LINES } from './kept.ts';
import { linesOfPayments, oldLines, wholeOf } from './line-queries.ts';

/** Lines erased in one commit. */
const AT_ONCE = 200;

/** Erases the lines that are the money of a payment; returns how many. Throws `DatabaseError`. */
export async function eraseLinesOf(transaction: Transaction, paymentId: string, act: Act): Promise<number> {
  const lines = await linesOfPayments(transaction, [paymentId]);
  // A line that was split says what its parts say.
  const wholes = new Map<string, KeptLine>();
  for (const line of lines) {
    const whole = await wholeOf(transaction, line);
    if (whole?.details) wholes.set(whole.id, whole);
  }
  return eraseLines(transaction, [...lines, ...wholes.values()], act);
}

/**
 * Erases lines of days before `day` (YYYY-MM-DD), at most 200; returns how many. Those that were changed in the store itself are
 * left: their entry would make the change good. Throws `DatabaseError`.
 */
export async function eraseOldLines(transaction: Transaction, day: string): Promise<number> {
  const act = { actor: 'clock', request_id: null };
  return eraseLines(transaction, await oldLines(transaction, day, AT_ONCE), act);
}

async function eraseLines(transaction: Transaction, lines: readonly KeptLine[], act: Act): Promise<number> {
  let erased = 0;
  for (const line of lines) {
    if (!(await isAsRecorded(transaction, LINES, line))) continue;
    const written = { details: null, note: null, salt: newSalt(), updated_at: transaction.now };
    if (await changeRow(transaction, act, 'line.erased', LINES, line, written)) erased += 1;
  }
  return erased;
}
