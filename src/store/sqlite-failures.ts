// What an error of SQLite's means to the caller: its result codes in the words of the port.
import { DatabaseError, type DatabaseFailure, StoreUnfit } from './database.ts';

const BUSY = 5;
/** The primary code in the low byte of an extended one, such as SQLITE_BUSY_RECOVERY: another connection goes through the log. */
const PRIMARY_CODES = 256;

/** Whether another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % PRIMARY_CODES === BUSY;
}

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const FAILURE_OF_CODE: Record<number, DatabaseFailure> = {
  5: 'unavailable', // BUSY
  6: 'unavailable', // LOCKED
  7: 'unavailable', // NOMEM
  8: 'unavailable', // READONLY
  10: 'broken', // IOERR: after a failed fsync the connection would go on accepting commits
  11: 'broken', // CORRUPT
  13: 'unavailable', // FULL
  14: 'unavailable', // CANTOPEN
  19: 'conflict', // CONSTRAINT; narrowed to unique keys below
  26: 'broken', // NOTADB
};
/**
 * IOERR_SHMSIZE: a full disk has no room for the index of the write-ahead log. The commit is undone, but stands in the log until
 * the next takes its place: a crash before would bring it back.
 */
export const NO_ROOM_FOR_INDEX = 4874;
const UNIQUE_CODES = new Set([1555, 2067, 2579]); // PRIMARYKEY, UNIQUE, ROWID

/** Returns an error of SQLite as a `DatabaseError`, and any other error unchanged. */
export function asDatabaseError(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode;
  if (code === undefined) return error;
  if (code === NO_ROOM_FOR_INDEX) return new DatabaseError('unknown', error);
  const failure = FAILURE_OF_CODE[code & 0xff] ?? 'fault';
  return new DatabaseError(failure === 'conflict' && !UNIQUE_CODES.has(code) ? 'fault' : failure, error);
}

const NOT_A_DATABASE = 26;

/** Whether SQLite says that a file is no database. */
export const isNoDatabase = (error: unknown) => (error as { errcode?: number }).errcode === NOT_A_DATABASE;

/** The same of the opening of a store's `file`, with what to do where that is no database. */
export function asOpeningError(error: unknown, file: string): unknown {
  if (!isNoDatabase(error)) return asDatabaseError(error);
  return new StoreUnfit(
    `${file} is not a SQLite database, or damaged at its beginning: put a backup in its place with counterfoil restore BACKUP --replace`,
  );
}
