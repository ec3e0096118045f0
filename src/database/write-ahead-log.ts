// The write-ahead log of SQLite, kept off the event loop: flushed in the thread pool, folded into the database by a worker.
import { once } from 'node:events';
import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { DatabaseError } from './database.ts';
import type { Connection } from './sqlite-connection.ts';
import { asDatabaseError } from './sqlite-failures.ts';

/** The log is folded into the database when it has grown by this many pages of 4 KiB. */
const FOLDED_PAGES = 4000;
/** Grown by so many, 64 MB, commits wait until it is folded: the disk takes them faster than the fold. */
const LONGEST_PAGES = 16_000;

const flushFile = promisify(fdatasync);

/** What the worker answers: nothing, or the error that SQLite had. */
export type Folded = { errcode?: number | undefined; message: string } | undefined;

export class WriteAheadLog {
  readonly #file: string;
  readonly #writer: Connection;
  readonly #onBroken: (error: Error) => void;
  #descriptor: number | undefined;
  #flushing: Promise<void> | undefined;
  #worker: Worker | undefined;
  #folding: Promise<void> | undefined;
  /** All of the log but its end is in the database. */
  #isRestDue = false;
  /** The pages of the log when it was last folded: all of them stay in it for as long as somebody reads them. */
  #foldedPages = 0;

  /**
   * `file`: the database. `writer`: the one connection of this process that writes it, with `synchronous = normal`. `onBroken` is
   * called when a fold fails on a failing disk: the process must end.
   */
  constructor(file: string, writer: Connection, onBroken: (error: Error) => void) {
    this.#file = file;
    this.#writer = writer;
    this.#onBroken = onBroken;
    writer.raw.exec('pragma wal_autocheckpoint = 0');
  }

  /** The newest flush, while it runs. Rejects with `DatabaseError` (`broken`): a flush that failed is never tried again. */
  get flushing(): Promise<void> | undefined {
    return this.#flushing;
  }

  /** Resolves when all that is committed is on the disk. One at a time. Rejects as `flushing` does. */
  flush(): Promise<void> {
    this.#descriptor ??= openSync(`${this.#file}-wal`, 'r');
    const flushing = flushFile(this.#descriptor).then(
      () => {
        this.#flushing = undefined;
      },
      (error) => {
        throw new DatabaseError('broken', error);
      },
    );
    this.#flushing = flushing;
    if (this.#grownPages() >= FOLDED_PAGES) this.#folding ??= this.#fold();
    return flushing;
  }

  /**
   * Folds the end of the log, where the rest is folded: then the next commit writes from its beginning. No transaction is open
   * meanwhile, so that this comes to an end, and commits wait for it.
   */
  async foldRest(): Promise<void> {
    if (this.#folding && this.#grownPages() >= LONGEST_PAGES) await this.#folding;
    if (!this.#isRestDue) return;
    this.#isRestDue = false;
    await this.#flushing;
    await this.#askWorker();
    this.#foldedPages = this.#pages();
  }

  /** Ends what runs. The last connection to close then folds the whole log. */
  async close(): Promise<void> {
    await this.#flushing?.catch(() => {}); // it has been answered with
    await this.#folding;
    if (this.#worker) {
      this.#worker.postMessage('close');
      await once(this.#worker, 'exit');
    }
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }

  #pages(): number {
    return this.#writer.all<{ log: number }>('pragma wal_checkpoint(noop)', [])[0]!.log;
  }

  /** By how many pages the log has grown since it was last folded. */
  #grownPages(): number {
    const pages = this.#pages();
    if (pages < this.#foldedPages) this.#foldedPages = 0; // it was begun anew
    return pages - this.#foldedPages;
  }

  async #fold(): Promise<void> {
    await this.#askWorker();
    this.#isRestDue = true;
    this.#folding = undefined;
  }

  /** Has the worker fold what nobody reads any more. A log that cannot be folded for now, on a full disk, goes on growing. */
  async #askWorker(): Promise<void> {
    this.#worker ??= new Worker(new URL('./write-ahead-log-worker.ts', import.meta.url), {
      workerData: this.#file,
    });
    this.#worker.postMessage('fold');
    const [failure] = (await once(this.#worker, 'message')) as [Folded];
    const error = failure && asDatabaseError(failure);
    if (error instanceof DatabaseError && error.failure === 'broken') this.#onBroken(error);
  }
}
