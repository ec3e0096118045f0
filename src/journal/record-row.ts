// The entry that every change of a row leaves: who, what, when, and the digest of the row as it stands now.
import type { Table } from '../store/table.ts';
import { type Act, rowDigest } from './audit-entry.ts';
import { newestEntriesAbout } from './queries.ts';
import { entryFacts } from './rows.ts';
import type { Transaction } from './transaction.ts';

/** What an entry tells besides; no personal data. */
export type Facts = Record<string, string | number | null>;

/** Records a change of a row of `table`, given as it is after it. */
export function recordRow<R extends { id: string }>(
  transaction: Transaction,
  { actor, request_id }: Act,
  action: string,
  { columns }: Table<R>,
  row: R,
  facts: Facts = {},
): void {
  transaction.record({
    actor,
    action,
    subject: row.id,
    request_id,
    facts: { ...facts, row: rowDigest(columns, row) },
  });
}

/** Reads rows and entries: a transaction, or a database outside of one. */
export type RecordReader = Pick<Transaction, 'query'> & Partial<Pick<Transaction, 'entryBefore'>>;

/** Whether a row is as its newest entry left it. If not, it was changed in the store itself. Throws `HistoryBroken` and `DatabaseError`. */
export async function isAsRecorded<R extends { id: string }>(
  database: RecordReader,
  { columns }: Table<R>,
  row: R,
): Promise<boolean> {
  const before = database.entryBefore?.(row.id);
  const newest = before ? { ...before, number: 0 } : (await newestEntriesAbout(database, row.id, 1))[0];
  return newest !== undefined && entryFacts(newest).row === rowDigest(columns, row);
}
