// What a SQLite file still holds of rows that were changed or deleted, and how it is overwritten. PostgreSQL is left to its operator.
import type { Database } from './database.ts';

/** Has SQLite overwrite what it deletes from now on. PostgreSQL has no such thing. Throws `DatabaseError`. */
export async function overwriteDeleted(database: Database): Promise<void> {
  if (database.engine === 'sqlite') await database.script('pragma secure_delete = on');
}

/**
 * Writes a SQLite file anew, for what its free space holds of earlier states of a row, and empties the write-ahead log. Needs
 * as much space again while it lasts. PostgreSQL is left to its operator. Throws `DatabaseError`.
 */
export async function dropTraces(database: Database): Promise<void> {
  if (database.engine !== 'sqlite') return;
  database.refresh(); // our own reads would keep the log from being emptied
  await database.script('vacuum; pragma wal_checkpoint(truncate)');
}
