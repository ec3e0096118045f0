// The SQL that erases the answers about a payment, and what a file still holds of deleted rows.
import type { Database } from '../database/database.ts';
import type { Transaction } from '../journal/transaction.ts';

/** Deletes the answers that speak of a payment: each was kept at the moment of one of its entries. */
export function deleteAnswersOf(transaction: Transaction, payment: string): Promise<{ scope: string }[]> {
  return transaction.change<{ scope: string }>(
    `delete from idempotency_keys where created_at in (select at from audit_entries where subject = ?) and body like ?
     returning scope`,
    payment,
    `%${payment}%`,
  );
}

/** Has SQLite overwrite what it deletes from now on. PostgreSQL has no such thing. Raises `DatabaseError`. */
export async function overwriteDeleted(database: Database): Promise<void> {
  if (database.engine === 'sqlite') await database.script('pragma secure_delete = on');
}

/**
 * Writes a SQLite file anew, for what its free space holds of earlier states of a row, and empties the write-ahead log. Needs
 * as much space again while it lasts. PostgreSQL is left to its operator. Raises `DatabaseError`.
 */
export async function dropTraces(database: Database): Promise<void> {
  if (database.engine === 'sqlite') await database.script('vacuum; pragma wal_checkpoint(truncate)');
}
