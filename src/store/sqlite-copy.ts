// Makes a consistent copy of a SQLite database while it is written to, and reads such a copy.
import { closeSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Database } from './database.ts';
import { openSqlite } from './sqlite.ts';
import { asDatabaseError, asOpeningError, Connection, existingDatabase } from './sqlite-connection.ts';

const BUSY_TIMEOUT_MS = 5000;
/** Copied at once, 4 MB: the size of a step of the progress bar. */
const PAGES_AT_ONCE = 1000;

/**
 * Copies the database in `file`, as it is at this moment, to `to`: one file, for its owner alone, with nothing beside it, on the
 * disk. Writers go on; their write-ahead log is not folded back until the copy is done. Throws `DatabaseError`.
 */
export async function copySqlite(
  file: string,
  to: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<void> {
  closeSync(openSync(to, 'wx', 0o600)); // never readable by others, not even at first
  let source: DatabaseSync | undefined;
  let copy: DatabaseSync | undefined;
  try {
    source = new DatabaseSync(existingDatabase(file), { timeout: BUSY_TIMEOUT_MS });
    // One view for all steps. Without it the copy starts over whenever another process commits, and under load never ends.
    source.exec('begin; select 1 from sqlite_schema');
    await backup(source, to, {
      rate: PAGES_AT_ONCE,
      progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
    });
    copy = new DatabaseSync(to);
    copy.exec('pragma journal_mode = delete'); // else a reader creates files beside it
  } catch (error) {
    throw asOpeningError(error, file);
  } finally {
    copy?.close();
    source?.close();
  }
}

/**
 * Makes the SQLite database `file`, for its owner alone, lends it to `fill`, and leaves one file with nothing beside it, on the disk.
 * Throws `DatabaseError`, and what `fill` throws.
 */
export async function fillSqlite(file: string, fill: (target: Database) => Promise<unknown>): Promise<void> {
  closeSync(openSync(file, 'wx', 0o600));
  const target = openSqlite(file, (error) => {
    throw error;
  });
  try {
    await fill(target);
  } finally {
    await target.close();
  }
  const filled = new DatabaseSync(file);
  filled.exec('pragma journal_mode = delete'); // else a reader creates files beside it
  filled.close();
}

interface SqliteCopy extends Pick<Database, 'engine' | 'snapshot'> {
  /** What SQLite finds wrong with the file; undefined where it is sound. Throws `DatabaseError`. */
  damage(): Promise<string | undefined>;
}

/** Lends the copy in `file` to `read`, and leaves it as it is. Throws `DatabaseError`. */
export async function readSqliteCopy<T>(file: string, read: (copy: SqliteCopy) => Promise<T>): Promise<T> {
  let view: Connection | undefined;
  try {
    view = new Connection(file, { readOnly: true });
    const opened = view;
    opened.raw.exec('begin');
    return await read({
      engine: 'sqlite',
      snapshot: (work) => work(opened),
      async damage() {
        const [found] = await opened.query<{ integrity_check: string }>('pragma integrity_check(1)');
        return found?.integrity_check === 'ok' ? undefined : found?.integrity_check;
      },
    });
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    view?.raw.close();
  }
}

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
