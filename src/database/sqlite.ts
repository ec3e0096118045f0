// SQLite through node:sqlite: one connection that writes, one that reads, every commit on disk before it counts.
import { chmodSync, existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { monotonicMs } from '../lib/time.ts';
import { type Database, DatabaseError, type Queryable, type Row, type Value } from './database.ts';
import { Connection } from './sqlite-connection.ts';
import { asDatabaseError, asOpeningError } from './sqlite-failures.ts';
import { sqliteFaults } from './sqlite-integrity.ts';

/** How long a transaction waits for the write lock. */
const BUSY_TIMEOUT_MS = 5000;
const BUSY_RETRY_MS = 10;
const BUSY = 5;
/** How long reads may share one view of the database, and so how late they may see what another process wrote. */
const VIEW_MS = 100;
/** The write-ahead log is folded back into the database when it has grown by this many pages of 4 KiB. */
const CHECKPOINT_PAGES = 4000;

/**
 * Opens, or makes, the database in `file`, mode 0600. `onBroken` is told of a failing disk or a damaged file,
 * after which the process must end: SQLite itself would carry on. Raises `DatabaseError`.
 */
export function openSqlite(file: string, onBroken: (error: Error) => void): Database {
  const isNew = !existsSync(file);
  let writer: Connection | undefined;
  try {
    writer = new Connection(file, { readOnly: false });
    if (isNew) chmodSync(file, 0o600); // the -wal and -shm files take the database's mode
    writer.raw.exec(
      `pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
       pragma busy_timeout = 0;`,
    );
    return new SqliteDatabase(file, writer, new Connection(file, { readOnly: true }), onBroken);
  } catch (error) {
    writer?.raw.close();
    throw asOpeningError(error, file);
  }
}

class SqliteDatabase implements Database {
  readonly engine = 'sqlite';
  readonly #file: string;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #onBroken: (error: Error) => void;
  #isWriting = false;
  #viewTakenAt = 0;

  constructor(file: string, writer: Connection, reader: Connection, onBroken: (error: Error) => void) {
    this.#file = file;
    this.#writer = writer;
    this.#reader = reader;
    this.#onBroken = onBroken;
  }

  async query<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
    try {
      this.#takeView();
      return this.#reader.all(sql, values);
    } catch (error) {
      return this.#watch(error);
    }
  }

  insert(): never {
    throw new Error('insert belongs in a transaction');
  }

  async transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    if (this.#isWriting) throw new Error('one transaction at a time');
    this.#isWriting = true;
    const { raw } = this.#writer;
    try {
      this.#letViewGo();
      await this.#begin();
      const result = await work(this.#writer);
      this.#letViewGo();
      raw.exec('commit');
      return result;
    } catch (error) {
      try {
        if (raw.isTransaction) raw.exec('rollback');
      } catch (unfinished) {
        this.#onBroken(unfinished as Error); // what the connection would do next is anybody's guess
      }
      return this.#watch(error);
    } finally {
      this.#isWriting = false;
    }
  }

  refresh(): void {
    try {
      this.#letViewGo();
    } catch (error) {
      this.#watch(error);
    }
  }

  async snapshot<T>(work: (view: Pick<Queryable, 'query'>) => Promise<T>): Promise<T> {
    let view: Connection | undefined;
    try {
      view = new Connection(this.#file, { readOnly: true });
      view.raw.exec('begin');
      return await work(view);
    } catch (error) {
      return this.#watch(error);
    } finally {
      view?.raw.close();
    }
  }

  async script(sql: string): Promise<void> {
    try {
      this.#writer.raw.exec(sql);
    } catch (error) {
      this.#watch(error);
    }
  }

  async durability(): Promise<Record<string, string>> {
    const { synchronous } = this.#writer.all<{ synchronous: number }>('pragma synchronous', [])[0]!;
    return { synchronous: String(synchronous) };
  }

  indexFaults(signal?: AbortSignal): Promise<string[]> {
    return sqliteFaults(this.#file, signal);
  }

  async close(): Promise<void> {
    this.#reader.raw.close();
    this.#writer.raw.close();
  }

  #watch(error: unknown): never {
    const known = asDatabaseError(error);
    if (known instanceof DatabaseError && known.failure === 'broken') this.#onBroken(known);
    throw known;
  }

  // Reads share one view of the database until the next commit: taking a view costs more than most reads. It is let go before
  // each commit, or the write-ahead log could never start over, and after a moment, since a command beside the server writes too.
  #takeView(): void {
    const now = monotonicMs();
    if (this.#reader.raw.isTransaction && now - this.#viewTakenAt > VIEW_MS) this.#letViewGo();
    if (this.#reader.raw.isTransaction) return;
    this.#reader.raw.exec('begin');
    this.#viewTakenAt = now;
  }

  #letViewGo(): void {
    if (this.#reader.raw.isTransaction) this.#reader.raw.exec('commit');
  }

  /** Takes the write lock, which a backup or a shell may hold: waits without holding up the process, then gives up. */
  async #begin(): Promise<void> {
    for (const deadline = monotonicMs() + BUSY_TIMEOUT_MS; ; ) {
      try {
        this.#writer.raw.exec('begin immediate');
        return;
      } catch (error) {
        if ((error as { errcode?: number }).errcode !== BUSY || monotonicMs() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
      }
    }
  }
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
