// The write-ahead log of SQLite, kept off the event loop: flushed in the thread pool, folded into the database by a worker.
import { once } from 'node:events';
import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { DatabaseError } from './database.ts';
import { asDatabaseError, type Connection } from './sqlite-connection.ts';

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
  readonly #descriptor: number;
  #flushing: Promise<void> | undefined;
  #worker: Worker | undefined;
  #folding: Promise<void> | undefined;
  /** All of the log but its end is in the database. */
  #isRestDue = false;
  /** The pages of the log when it was last checkpointed. They stay in it while a reader uses them. */
  #foldedPages = 0;

  /**
   * `file`: the database. `writer`: the one connection of this process that writes it, with `synchronous = normal`. `onBroken` is
   * called when a fold fails on a failing disk: the process must end. Throws the errors of SQLite and of the system.
   */
  constructor(file: string, writer: Connection, onBroken: (error: Error) => void) {
    this.#file = file;
    this.#writer = writer;
    this.#onBroken = onBroken;
    writer.raw.exec('pragma wal_autocheckpoint = 0; select 1 from sqlite_schema'); // the first read makes the log
    // Now, not behind a commit: a process that has no descriptor left could not say what became of that commit.
    this.#descriptor = openSync(`${file}-wal`, 'r');
  }

  /** The newest flush, while it runs. Rejects with `DatabaseError` (`broken`): a flush that failed is never tried again. */
  get flushing(): Promise<void> | undefined {
    return this.#flushing;
  }

  /** Flushes what this process has just committed. One at a time. Rejects as `flushing` does. */
  flush(): Promise<void> {
    const flushing = this.sync().then(() => {
      this.#flushing = undefined;
    });
    this.#flushing = flushing;
    return flushing;
  }

  /** Resolves when all that any process has committed by now is on the disk. Rejects as `flushing` does. */
  async sync(): Promise<void> {
    try {
      await flushFile(this.#descriptor);
    } catch (error) {
      throw new DatabaseError('broken', error);
    }
  }

  /**
   * Has a log that is long folded. Where all but its end is folded, the end is folded too: then the next commit writes from its
   * beginning. No transaction is open meanwhile, so that this comes to an end, and commits wait for it. Called before each.
   */
  async fold(): Promise<void> {
    const pages = this.#pages();
    if (pages < this.#foldedPages) this.#foldedPages = 0; // it was begun anew
    const grown = pages - this.#foldedPages;
    if (grown >= FOLDED_PAGES && !this.#isRestDue) this.#folding ??= this.#foldBeside(pages);
    if (grown >= LONGEST_PAGES) await this.#folding;
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
    closeSync(this.#descriptor);
  }

  /** The pages of the log. Only while no transaction is open: SQLite refuses to say it of the connection that writes. */
  #pages(): number {
    return this.#writer.all<{ log: number }>('pragma wal_checkpoint(noop)', [])[0]!.log;
  }

  /** Folds while transactions come and go. `pages`: the pages of the log now. */
  async #foldBeside(pages: number): Promise<void> {
    this.#isRestDue = await this.#askWorker();
    if (!this.#isRestDue) this.#foldedPages = pages; // tried again when it has grown by as much once more
    this.#folding = undefined;
  }

  /**
   * Lets the worker checkpoint what no reader uses any more. If that fails for now, on a full disk or without free descriptors, the log
   * goes on growing. One at a time. Returns whether it was checkpointed.
   */
  async #askWorker(): Promise<boolean> {
    let failure: Folded;
    try {
      this.#worker ??= new Worker(new URL('./write-ahead-log-worker.ts', import.meta.url), {
        workerData: this.#file,
      });
      this.#worker.postMessage('fold');
      [failure] = (await once(this.#worker, 'message')) as [Folded];
    } catch (error) {
      this.#worker = undefined; // it has ended, and the next fold starts another
      failure = error as Error;
    }
    const error = failure && asDatabaseError(failure);
    if (error instanceof DatabaseError && error.failure === 'broken') this.#onBroken(error);
    return failure === undefined;
  }
}
