// One connection to SQLite: its settings and statements, its files in place, and what its errors mean.

import { type BigIntStats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import {
  DatabaseError,
  type DatabaseFailure,
  type Queryable,
  type Row,
  StoreUnfit,
  type Value,
} from './database.ts';

/** Timeout for a lock of another process. */
const BUSY_TIMEOUT_MS = 5000;
/** Pages kept in memory by each connection, in KiB. */
const CACHE_KIB = 4 * 1024;

/** A prepared statement whose rows come as objects of one shape. */
interface Prepared {
  statement: StatementSync;
  /** Values in the order of the statement's columns → a row; nothing for statements that give none. */
  row: ((values: unknown) => unknown) | undefined;
}

/**
 * node:sqlite makes each row a dictionary, and everything that touches it slow (× 3 for a page of payments). An object literal
 * gives all rows of a statement one hidden class; its names are the columns of our own SQL.
 */
function rowMaker(columns: readonly { name: string }[]): Prepared['row'] {
  if (columns.length === 0) return undefined;
  const fields = columns.map(({ name }, i) => `${JSON.stringify(name)}: values[${i}]`);
  return new Function('values', `return { ${fields.join(', ')} }`) as Prepared['row'];
}

/** Reads numbers beyond 2^53 rounded, as PostgreSQL gives them. The service writes none. Verification reports the row. */
function readRoughly(statement: StatementSync, values: readonly Value[]): unknown[] {
  statement.setReadBigInts(true);
  const rows = statement.all(...values) as unknown as unknown[][];
  statement.setReadBigInts(false);
  return rows.map((row) => row.map((value) => (typeof value === 'bigint' ? Number(value) : value)));
}

/** Names a database in such a way that SQLite does not make its file. */
export function existingDatabase(file: string): URL {
  const url = pathToFileURL(file);
  url.searchParams.set('mode', 'rw');
  return url;
}

/** One connection, with what every connection of ours is set to. */
export class Connection implements Queryable {
  readonly raw: DatabaseSync;
  readonly #readOnly: boolean;
  readonly #statements = new Map<string, Prepared>();

  /** With `makes` a file that is not there is made. Throws the errors of SQLite. */
  constructor(file: string, options: { readOnly: boolean; makes?: boolean }) {
    this.#readOnly = options.readOnly;
    this.raw = new DatabaseSync(options.makes || options.readOnly ? file : existingDatabase(file), {
      readOnly: options.readOnly,
      timeout: BUSY_TIMEOUT_MS,
    });
    try {
      this.raw.exec(`pragma foreign_keys = on; pragma trusted_schema = off; pragma cell_size_check = on;
                     pragma cache_size = -${CACHE_KIB};`);
    } catch (error) {
      this.raw.close();
      throw error;
    }
  }

  prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (!prepared) {
      const statement = this.raw.prepare(sql);
      statement.setReturnArrays(true);
      prepared = { statement, row: rowMaker(statement.columns()) };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }

  all<R>(sql: string, values: readonly Value[]): R[] {
    const { statement, row } = this.prepare(sql);
    let rows: unknown[];
    try {
      rows = statement.all(...values);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_OUT_OF_RANGE' || !this.#readOnly) throw error;
      rows = readRoughly(statement, values);
    }
    return (row ? rows.map(row) : rows) as R[];
  }

  async query<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
    try {
      return this.all(sql, values);
    } catch (error) {
      throw asDatabaseError(error);
    }
  }

  async insert(table: string, rows: readonly object[]): Promise<void> {
    if (rows.length === 0) return;
    const columns = Object.keys(rows[0]!);
    try {
      const { statement } = this.prepare(
        `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      );
      for (const row of rows) statement.run(...columns.map((column) => (row as Row)[column]!));
    } catch (error) {
      throw asDatabaseError(error);
    }
  }
}

/** What `sql` reads in a database of its own, in memory, that `script` has just made. Throws `DatabaseError`. */
export function queryFresh<R>(script: string, sql: string): R[] {
  const fresh = new Connection(':memory:', { readOnly: false, makes: true });
  try {
    fresh.raw.exec(script);
    return fresh.all<R>(sql, []);
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    fresh.raw.close();
  }
}

/** A database in the write-ahead log's mode, as what follows its path. None is made anew while a connection is open. */
const FILES = ['', '-wal', '-shm'] as const;

/** What a file is, whatever its name: device and inode. Undefined if there is none. */
export function identityOf(path: string): string | undefined {
  const stats: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

export class FilesInPlace {
  readonly #file: string;
  readonly #opened: readonly (readonly [path: string, identity: string | undefined])[];

  /** `file`: a database that this process has just opened and read. */
  constructor(file: string) {
    this.#file = file;
    this.#opened = FILES.map((suffix) => [file + suffix, identityOf(file + suffix)]);
  }

  /** What has become of a file that is open, as a clause. Undefined if all are in place. */
  fault(): string | undefined {
    for (const [path, opened] of this.#opened) {
      const now = identityOf(path);
      if (now !== opened)
        return `${path} is ${now === undefined ? 'gone' : 'another file'}, while this process has ${basename(this.#file)} open`;
    }
    return undefined;
  }
}

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
