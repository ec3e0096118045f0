// SQLite: one connection that writes, one that reads, and a flush in the thread pool before a commit counts.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { monotonicMs } from '../lib/time.ts';
import {
  type Database,
  DatabaseError,
  type Queryable,
  type Reader,
  type Row,
  StoreUnfit,
  type Value,
} from './database.ts';
import { asDatabaseError, asOpeningError, Connection, FilesInPlace, isBusy } from './sqlite-connection.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

/** Older ones can damage the file when two connections start the write-ahead log over (https://sqlite.org/wal.html, "WAL-reset bug"). */
const OLDEST_VERSION = '3.51.3';
/** How long the write lock is waited for, and the pause between two tries. */
const BUSY_TIMEOUT_MS = 5000;
const BUSY_RETRY_MS = 10;
/** How much time one try counts for at most. Because a process that stood still has not tried meanwhile. */
const BUSY_COUNTED_MS = 100;
/** Interval at which the open files are checked at their paths, besides before each commit. */
const LOOK_EVERY_MS = 1000;
/** Time for which reads share one snapshot. A write of another process is seen at most this late, or when the flush of that moment ends. */
const VIEW_MS = 100;

/**
 * Opens, or makes, the database in `file`, mode 0600. `onBroken` is called with the error of a failing disk or a damaged file,
 * after which the process must end: SQLite itself would carry on. `watch` is told when a file that is open is not in its place any more,
 * and when it is again: meanwhile the store takes no changes. `version` is that of the SQLite in use. Throws `StoreUnfit`,
 * `DatabaseError`.
 */
export function openSqlite(
  file: string,
  onBroken: (error: Error) => void,
  watch?: FileWatch,
  version = process.versions.sqlite!,
): Database {
  if (version.localeCompare(OLDEST_VERSION, 'en', { numeric: true }) < 0)
    throw new StoreUnfit(
      `this Node has SQLite ${version}, and ${OLDEST_VERSION} is needed: run node scripts/install.js, or install a newer Node`,
    );
  const isNew = !existsSync(file);
  let writer: Connection | undefined;
  try {
    writer = new Connection(file, { readOnly: false, makes: isNew });
    if (isNew) chmodSync(file, 0o600); // the -wal and -shm files take the database's mode
    // `normal`, because the write-ahead log flushes each commit itself, off the event loop, before it counts.
    writer.raw.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 0;');
    return new Sqlite(file, writer, onBroken, watch);
  } catch (error) {
    writer?.raw.close();
    throw asOpeningError(error, file);
  }
}

/** Told of a file that is open and not in its place any more. `fault` is a clause; undefined where all is in place again. */
type FileWatch = (fault: string | undefined) => void;

class Sqlite implements Database {
  readonly engine = 'sqlite';
  readonly #file: string;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #log: WriteAheadLog;
  readonly #onBroken: (error: Error) => void;
  readonly #files: FilesInPlace;
  readonly #watchFiles: FileWatch;
  readonly #look: NodeJS.Timeout;
  #misplaced: string | undefined;
  #writing = false;
  #viewTakenAt = 0;
  /** Because a second close would close a descriptor that was reused meanwhile. */
  #closing: Promise<void> | undefined;

  constructor(
    file: string,
    writer: Connection,
    onBroken: (error: Error) => void,
    watch: FileWatch = () => {},
  ) {
    this.#file = file;
    this.#writer = writer;
    this.#onBroken = onBroken;
    this.#log = new WriteAheadLog(file, writer, onBroken);
    this.#reader = new Connection(file, { readOnly: true });
    this.#files = new FilesInPlace(file);
    this.#watchFiles = watch;
    this.#look = setInterval(() => this.#findMisplaced(), LOOK_EVERY_MS).unref();
  }

  get flushing(): Promise<void> | undefined {
    return this.#log.flushing;
  }

  async query<R = Row>(sql: string, ...values: Value[]): Promise<R[]> {
    try {
      if (monotonicMs() - this.#viewTakenAt > VIEW_MS) this.#letViewGo();
      this.#takeView();
      return this.#reader.all(sql, values);
    } catch (error) {
      return this.#watch(error);
    }
  }

  async transaction<T>(
    work: (transaction: Queryable) => Promise<T>,
    _withinMs?: number,
    onWritten: () => void = () => {},
  ): Promise<T> {
    const { result, flushed } = await this.#write(work);
    onWritten();
    try {
      await flushed;
      this.#letViewGo();
      return result;
    } catch (error) {
      return this.#watch(error);
    }
  }

  refresh(): void {
    try {
      this.#letViewGo();
    } catch (error) {
      this.#watch(error);
    }
  }

  async snapshot<T>(work: (view: Reader) => Promise<T>): Promise<T> {
    let view: Connection | undefined;
    try {
      this.#requireInPlace();
      view = new Connection(this.#file, { readOnly: true });
      view.raw.exec('begin; select 1 from sqlite_schema');
      await this.#log.sync(); // what the view shows is on the disk before it is used
      return await work(view);
    } catch (error) {
      return this.#watch(error);
    } finally {
      view?.raw.close();
    }
  }

  async script(sql: string): Promise<void> {
    try {
      this.#requireInPlace();
      this.#writer.raw.exec(sql);
      if (!this.#writer.raw.isTransaction) await this.#log.flush();
    } catch (error) {
      this.#watch(error);
    }
  }

  indexFaults(signal?: AbortSignal): Promise<string[]> {
    return sqliteFaults(this.#file, signal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#look);
    await this.#log.close();
    this.#reader.raw.close();
    this.#writer.raw.close();
  }

  /** Throws `DatabaseError` (`unavailable`) if a file that is open is not in its place. */
  #requireInPlace(): void {
    const fault = this.#findMisplaced();
    if (fault !== undefined) throw new DatabaseError('unavailable', fault);
  }

  #findMisplaced(): string | undefined {
    const fault = this.#files.fault();
    if ((fault === undefined) !== (this.#misplaced === undefined)) this.#watchFiles(fault);
    this.#misplaced = fault;
    return fault;
  }

  /** Runs `work` while the commit before is flushed, and commits it behind that. `flushed` resolves when it is on the disk. */
  async #write<T>(
    work: (transaction: Queryable) => Promise<T>,
  ): Promise<{ result: T; flushed: Promise<void> }> {
    if (this.#writing) throw new Error('one transaction at a time');
    this.#writing = true;
    try {
      this.#requireInPlace(); // a fold would make the file anew
      await this.#log.fold();
      this.#letViewGo();
      await this.#begin();
      const result = await work(this.#writer);
      await this.#log.flushing;
      this.#pinView();
      this.#writer.raw.exec('commit');
      return { result, flushed: this.#log.flush() };
    } catch (error) {
      this.#rollBack();
      await this.#log.flushing; // the error may tell of the commit before
      return this.#watch(error);
    } finally {
      this.#writing = false;
    }
  }

  /**
   * Reads share one view of the database, because taking one costs more than most reads. It is let go before each commit, or the log
   * could never begin anew, and after a moment, because a command beside the server writes too.
   */
  #takeView(): void {
    if (this.#reader.raw.isTransaction) return;
    this.#reader.raw.exec('begin');
    this.#viewTakenAt = monotonicMs();
  }

  /**
   * Holds reads to what is on the disk now, for as long as the commit that follows is not:
   * see docs/decisions/0018-the-disk-is-flushed-off-the-event-loop.md.
   */
  #pinView(): void {
    this.#letViewGo();
    this.#takeView();
    this.#reader.all('select 1 from sqlite_schema limit 1', []);
  }

  #letViewGo(): void {
    if (this.#reader.raw.isTransaction && !this.#log.flushing) this.#reader.raw.exec('commit');
  }

  /** Takes the write lock, which a backup or a shell may hold: waits without holding up the process, then gives up. */
  async #begin(): Promise<void> {
    for (let leftMs = BUSY_TIMEOUT_MS; ; ) {
      const begun = monotonicMs();
      try {
        this.#writer.raw.exec('begin immediate');
        return;
      } catch (error) {
        if (!isBusy(error) || leftMs <= 0) throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
      }
      leftMs -= Math.min(monotonicMs() - begun, BUSY_COUNTED_MS);
    }
  }

  #rollBack(): void {
    try {
      if (this.#writer.raw.isTransaction) this.#writer.raw.exec('rollback');
    } catch (unfinished) {
      this.#onBroken(unfinished as Error); // the state of the connection is unknown
    }
  }

  #watch(error: unknown): never {
    const known = asDatabaseError(error);
    if (known instanceof DatabaseError && known.failure === 'broken') this.#onBroken(known);
    throw known;
  }
}

const PROGRAM = fileURLToPath(new URL('./sqlite-integrity-process.ts', import.meta.url));
/** Maximum output of the process. It reports ten faults at most. */
const LONGEST_BYTES = 64 * 1024;

/**
 * Returns what is wrong with the file, ten faults at most; empty where nothing is. It is read as one state, in a process with a
 * lower priority, which `signal` ends. Throws `DatabaseError`, and the signal's reason.
 */
function sqliteFaults(file: string, signal?: AbortSignal): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: LONGEST_BYTES, killSignal: 'SIGKILL', env: {} } as const;
    const child = execFile(process.execPath, [PROGRAM, file], options, (error, said, complained) => {
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else if (error) reject(new DatabaseError('unavailable', complained.trim() || error.message));
      else resolve(JSON.parse(said) as string[]);
    });
    const end = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    try {
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    } catch {} // it has ended, or this system has no priorities
  });
}
