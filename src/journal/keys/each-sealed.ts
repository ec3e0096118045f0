// Changes the rows that hold a secret sealed by the key ring, one journal transaction for each.
import type { Journal } from '../journal.ts';
import { isAsRecorded, lockRow, type Recorded } from '../record-row.ts';
import type { Transaction } from '../transaction.ts';

/**
 * Runs `change` for each of `rows` that `isDue`, with the row as it is then. A kill leaves whole rows, and the next run does the rest.
 * Skips a row that is not as the history left it, because a change would hide that. Returns the changed and the skipped rows.
 * Throws `unavailable`, `DatabaseError`.
 */
export async function changeEachSealed<R extends { id: string }>(
  journal: Journal,
  table: Recorded<R>,
  rows: readonly R[],
  isDue: (row: R) => boolean,
  change: (transaction: Transaction, row: R) => Promise<unknown>,
): Promise<{ done: R[]; left: R[] }> {
  const done: R[] = [];
  const left: R[] = [];
  for (const { id } of rows.filter(isDue)) {
    const outcome = await journal.commit(async (transaction) => {
      const row = await lockRow(transaction, table, id);
      if (!row || !isDue(row)) return undefined;
      const list = (await isAsRecorded(transaction, table, row)) ? done : left;
      if (list === done) await change(transaction, row);
      return { list, row };
    }, id);
    outcome?.list.push(outcome.row); // not in the work, which may be run again
  }
  return { done, left };
}
