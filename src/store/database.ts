// The port to storage: three verbs and a read-only view, the same on SQLite and PostgreSQL.

export type Value = string | number | null;
export type Row = Record<string, Value>;

/**
 * `?` stands for a value. Columns are `text` or `bigint`; the SQL is the subset both engines share (docs/style.md).
 * Both verbs raise `DatabaseError`.
 */
/** What rows are read from: the database, a transaction of it, or a snapshot. */
export interface Reader {
  /** Runs one statement and returns its rows: a `select`, or, in a transaction, a write with `returning`. */
  query<R = Row>(sql: string, ...values: Value[]): Promise<R[]>;
}

export interface Queryable extends Reader {
  /**
   * Inserts rows that all have the same keys, as one statement where the engine gains by it. PostgreSQL may refuse them only later:
   * then the next query of the transaction rejects, or its commit.
   */
  insert(table: string, rows: readonly object[]): Promise<void>;
}

export interface Database extends Reader {
  readonly engine: 'sqlite' | 'postgres';
  /** Outside `transaction`, reads only: on SQLite they run on a connection that cannot write. */
  query<R = Row>(sql: string, ...values: Value[]): Promise<R[]>;
  /**
   * Commits what `work` did, or rolls all of it back when it throws. One at a time: the journal is its caller. With
   * `withinMs` it ends by then on PostgreSQL, connecting included, and within 8 seconds; without, each statement has 8 seconds.
   * On SQLite `onWritten` is called when the next may begin: it runs while this one's commit is flushed, and commits behind it.
   */
  transaction<T>(
    work: (transaction: Queryable) => Promise<T>,
    withinMs?: number,
    onWritten?: () => void,
  ): Promise<T>;
  /** The flush of the newest commit while it runs, on SQLite. Rejects when the disk fails. */
  readonly flushing?: Promise<void> | undefined;
  /**
   * Lets the next read see the present state: reads of SQLite share one of the last tenth of a second, in which a command may have
   * written.
   */
  refresh(): void;
  /** Reads one unmoving state of the whole database, while others write. */
  snapshot<T>(work: (view: Reader) => Promise<T>): Promise<T>;
  /** Runs many statements: those of a migration inside `transaction`, others outside of one. Nothing else may use the store meanwhile. */
  script(sql: string): Promise<void>;
  /**
   * Checks the indexes against their tables, and on SQLite the whole file. Returns at most ten faults, a clause each. Reads the whole
   * store in a process or on a connection of its own, so other calls do not wait. `signal` ends it. Throws `DatabaseError`, and the
   * signal's reason.
   */
  indexFaults(signal?: AbortSignal): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * What went wrong, as far as a caller can act on it:
 * - `conflict`: a unique key is taken; rolled back
 * - `contended`: two transactions waited for each other; rolled back, and the same may be run again
 * - `unavailable`: no connection, no space, no time; rolled back or never begun
 * - `unknown`: the connection was lost or the wait for a standby cut short at COMMIT; it may or may not stand
 * - `broken`: the disk or the database file failed; this process must not go on writing
 * - `fault`: the statement itself is wrong: a defect
 */
export type DatabaseFailure = 'conflict' | 'contended' | 'unavailable' | 'unknown' | 'broken' | 'fault';

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly failure: DatabaseFailure;
  constructor(failure: DatabaseFailure, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.failure = failure;
  }

  /** Whether it says that a lock was waited for longer than was set for it: PostgreSQL's 55P03. */
  get waitedForLock(): boolean {
    return (this.cause as { code?: string }).code === '55P03';
  }

  /** Whether it says that the server has no database of that name: PostgreSQL's 3D000. */
  get isMissing(): boolean {
    return (this.cause as { code?: string }).code === '3D000';
  }

  /** Whether it says that a table is not there yet: PostgreSQL's 42P01; SQLite has words for it alone. */
  get lacksTable(): boolean {
    const { code } = this.cause as { code?: string };
    return code === '42P01' || /^no such table: /.test(this.message);
  }
}

/** A start that only a person can help: the database's file is none or damaged at its beginning, or the engine is too old. */
export class StoreUnfit extends DatabaseError {
  constructor(message: string) {
    super('broken', message);
  }
}

/** Returns the same store with counting. Calls `count` once for each call that fails. */
export function countFailures(database: Database, count: (failure: DatabaseFailure) => void): Database {
  const watched = <T>(call: Promise<T>): Promise<T> =>
    call.catch((error) => {
      if (error instanceof DatabaseError) count(error.failure);
      throw error;
    });
  return {
    engine: database.engine,
    query: <R>(sql: string, ...values: Parameters<Database['query']>[1][]) =>
      watched(database.query<R>(sql, ...values)),
    transaction: (work, withinMs, onWritten) => watched(database.transaction(work, withinMs, onWritten)),
    get flushing() {
      return database.flushing;
    },
    refresh: () => database.refresh(),
    snapshot: (work) => watched(database.snapshot(work)),
    script: (sql) => watched(database.script(sql)),
    indexFaults: (signal) => watched(database.indexFaults(signal)),
    close: () => database.close(),
  };
}

/** By engine: the settings by which an answered commit outlives a power cut, where nothing of ours sets them. */
const DURABILITY: Record<Database['engine'], string> = {
  sqlite: "select 'journal_mode' as name, journal_mode as setting from pragma_journal_mode",
  // Asked where the session's own word is not: this is what the server, the database and the role have.
  postgres: `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')`,
};

/** These settings by their names. On SQLite it is the mode of its journal, whose log is flushed. Throws `DatabaseError`. */
export async function durability(database: Database): Promise<Record<string, string>> {
  const rows = await database.query<{ name: string; setting: string }>(DURABILITY[database.engine]);
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}
