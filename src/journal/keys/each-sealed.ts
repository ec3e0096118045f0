// Changes the rows that hold a secret sealed by the key ring, one journal transaction for each.
import type { Reader } from '../../store/database.ts';
import type { Journal } from '../journal.ts';
import { isAsRecorded, lockRow, type Recorded } from '../record-row.ts';
import type { Transaction } from '../transaction.ts';

/** The rows of a table that may hold secrets, and who holds the secrets of one. */
interface SealedRows<R extends object> {
  table: Recorded<R>;
  list(database: Reader): Promise<readonly R[]>;
  holder(row: R): string;
}

/**
 * Runs `change` for each row that `isDue`, with the row as it is then. A kill leaves whole rows, and the next run does the rest.
 * Skips a row that is not as the history left it, because a change would hide that. Returns the holders of changed and skipped rows.
 * Throws `unavailable`, `DatabaseError`.
 */
export async function changeEachSealed<R extends { id: string }>(
  database: Reader,
  journal: Journal,
  { table, list: listRows, holder }: SealedRows<R>,
  isDue: (row: R) => boolean,
  change: (transaction: Transaction, row: R) => Promise<unknown>,
): Promise<{ done: string[]; left: string[] }> {
  const done: string[] = [];
  const left: string[] = [];
  for (const { id } of (await listRows(database)).filter(isDue)) {
    const outcome = await journal.commit(async (transaction) => {
      const row = await lockRow(transaction, table, id);
      if (!row || !isDue(row)) return undefined;
      const list = (await isAsRecorded(transaction, table, row)) ? done : left;
      if (list === done) await change(transaction, row);
      return { list, row };
    }, id);
    outcome?.list.push(holder(outcome.row)); // not in the work, which may be run again
  }
  return { done, left };
}
