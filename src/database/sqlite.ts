// SQLite through node:sqlite: one connection that writes, one that reads, every commit on disk before it counts.
import { chmodSync, existsSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { monotonicMs } from '../lib/time.ts';
import { type Database, DatabaseError, type Queryable, type Row, type Value } from './database.ts';
import { asDatabaseError, asOpeningError } from './sqlite-failures.ts';
import { sqliteFaults } from './sqlite-integrity.ts';

const BUSY_TIMEOUT_MS = 5000;
const BUSY_RETRY_MS = 10;
const BUSY = 5;
/** How long reads may share one view of the database, and so how late they may see what another process wrote. */
const VIEW_MS = 100;
/** Pages kept in memory by each connection, in KiB. */
const CACHE_KIB = 4 * 1024;
/** The write-ahead log is folded back into the database when it has grown by this many pages of 4 KiB. */
const CHECKPOINT_PAGES = 4000;

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

/** No number of ours lies beyond 2^53: another hand wrote it. It is read rounded, as from PostgreSQL, so that verifying can say where. */
function readRoughly(statement: StatementSync, values: readonly Value[]): unknown[] {
  statement.setReadBigInts(true);
  const rows = statement.all(...values) as unknown as unknown[][];
  statement.setReadBigInts(false);
  return rows.map((row) => row.map((value) => (typeof value === 'bigint' ? Number(value) : value)));
}

/** One connection, with what every connection of ours is set to. */
export class Connection implements Queryable {
  readonly raw: DatabaseSync;
  readonly #readOnly: boolean;
  readonly #statements = new Map<string, Prepared>();

  constructor(file: string, options: { readOnly: boolean }) {
    this.#readOnly = options.readOnly;
    this.raw = new DatabaseSync(file, { readOnly: options.readOnly, timeout: BUSY_TIMEOUT_MS });
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

/**
 * Opens, or makes, the database in `file`, mode 0600. `onBroken` is told of a failing disk or a damaged file,
 * after which the process must end: SQLite itself would carry on. Raises `DatabaseError`.
 */
export function openSqlite(file: string, onBroken: (error: Error) => void): Database {
  const isNew = !existsSync(file);
  let writer!: Connection;
  let reader: Connection;
  try {
    writer = new Connection(file, { readOnly: false });
    if (isNew) chmodSync(file, 0o600); // the -wal and -shm files take the database's mode
    writer.raw.exec(
      `pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
       pragma busy_timeout = 0;`,
    );
    reader = new Connection(file, { readOnly: true });
  } catch (error) {
    writer?.raw.close();
    throw asOpeningError(error, file);
  }

  function watch(error: unknown): never {
    const known = asDatabaseError(error);
    if (known instanceof DatabaseError && known.failure === 'broken') onBroken(known);
    throw known;
  }

  // Reads share one view of the database until the next commit: taking a view costs more than most reads. It is let go before
  // each commit, or the write-ahead log could never start over, and after a moment, since a command beside the server writes too.
  let viewTakenAt = 0;
  function takeView(): void {
    const now = monotonicMs();
    if (reader.raw.isTransaction && now - viewTakenAt > VIEW_MS) letViewGo();
    if (reader.raw.isTransaction) return;
    reader.raw.exec('begin');
    viewTakenAt = now;
  }
  function letViewGo(): void {
    if (reader.raw.isTransaction) reader.raw.exec('commit');
  }

  /** Takes the write lock, which a backup or a shell may hold: waits without holding up the process, then gives up. */
  async function begin(): Promise<void> {
    for (const deadline = monotonicMs() + BUSY_TIMEOUT_MS; ; ) {
      try {
        writer.raw.exec('begin immediate');
        return;
      } catch (error) {
        if ((error as { errcode?: number }).errcode !== BUSY || monotonicMs() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
      }
    }
  }

  let writing = false;
  return {
    engine: 'sqlite',
    async query<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
      try {
        takeView();
        return reader.all(sql, values);
      } catch (error) {
        return watch(error);
      }
    },
    insert() {
      throw new Error('insert belongs in a transaction');
    },
    async transaction(work) {
      if (writing) throw new Error('one transaction at a time');
      writing = true;
      try {
        letViewGo();
        await begin();
        const result = await work(writer);
        letViewGo();
        writer.raw.exec('commit');
        return result;
      } catch (error) {
        try {
          if (writer.raw.isTransaction) writer.raw.exec('rollback');
        } catch (unfinished) {
          onBroken(unfinished as Error); // what the connection would do next is anybody's guess
        }
        return watch(error);
      } finally {
        writing = false;
      }
    },
    refresh() {
      try {
        letViewGo();
      } catch (error) {
        watch(error);
      }
    },
    async snapshot(work) {
      let view: Connection | undefined;
      try {
        view = new Connection(file, { readOnly: true });
        view.raw.exec('begin');
        return await work(view);
      } catch (error) {
        return watch(error);
      } finally {
        view?.raw.close();
      }
    },
    async script(sql) {
      try {
        writer.raw.exec(sql);
      } catch (error) {
        watch(error);
      }
    },
    async durability() {
      const { synchronous } = writer.all<{ synchronous: number }>('pragma synchronous', [])[0]!;
      return { synchronous: String(synchronous) };
    },
    indexFaults: (signal) => sqliteFaults(file, signal),
    async close() {
      reader.raw.close();
      writer.raw.close();
    },
  };
}

/** What `sql` reads in a database of its own, in memory, that `script` has just made. Raises `DatabaseError`. */
export function queryFresh<R>(script: string, sql: string): R[] {
  const fresh = new Connection(':memory:', { readOnly: false });
  try {
    fresh.raw.exec(script);
    return fresh.all<R>(sql, []);
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    fresh.raw.close();
  }
}

/**
 * Holds a store for one server: an exclusive lock on `file` that the operating system drops when the process ends, however
 * it ends. Raises `DatabaseError` (`unavailable`) when another process holds it. Returns the release.
 */
export function lockStore(file: string): () => void {
  try {
    const lock = new DatabaseSync(file, { timeout: 0 });
    chmodSync(file, 0o600);
    // A rollback journal would need room on the disk.
    lock.exec('pragma locking_mode = exclusive; pragma journal_mode = memory; begin exclusive');
    return () => lock.close();
  } catch (error) {
    if ((error as { errcode?: number }).errcode === BUSY)
      throw new DatabaseError('unavailable', `another server holds the store (${file}): stop it first`);
    throw asDatabaseError(error);
  }
}
