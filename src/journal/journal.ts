// Every change goes through here: works that arrive during a commit become the next one, numbered, sealed, then answered.
import { OperationalError, unavailable } from '../lib/errors.ts';
import { type Clock, monotonicMs } from '../lib/time.ts';
import { type Database, DatabaseError, type Queryable } from '../store/database.ts';
import type { Seal } from './audit-entry.ts';
import { newestSeal, touchHead } from './queries.ts';
import { CommitAttempt, FailedAfterWriting, type Work } from './transaction.ts';

/** Works in one commit: enough to share the price of the disk, few enough that a batch stays short. */
const LARGEST_BATCH = 256;
/**
 * From handing a work in to its answer, within the timeout of a request (`web/server.ts`). A batch has what is left of it to the
 * work that has waited longest.
 */
const ANSWER_MS = 8000;
/** Maximum attempts of a batch that other nodes' batches lock out. Each attempt lets at least one of theirs through. */
const CONTENDED_RUNS = 5;

interface JournalOptions {
  /** Of the installation; UTC if undefined. */
  timeZone?: string | undefined;
  largestBatch?: number | undefined;
  answerMs?: number | undefined;
  onCommit?: ((works: number) => void) | undefined;
  onSeal?: ((seal: Seal) => void) | undefined;
}

/** Ends the transaction of a rehearsal, which went well. */
class Rehearsed extends Error {}

export class Journal {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #largestBatch: number;
  readonly #options: JournalOptions;
  readonly #queue: WorkQueue;
  readonly #rehearsals: Waiting[] = [];
  readonly counters: JournalCounters = { commits: 0, works: 0, refused: 0 };
  #running: Promise<void> | undefined;
  /** The newest batch, to its answers: on SQLite the next one may have begun. */
  #newestRun: Promise<void> | undefined;
  #closed = false;
  #newest: CommitOutcome | undefined;
  #defects: Defects = { inARow: 0, at: Number.NEGATIVE_INFINITY };

  /**
   * `largestBatch` 1 gives one commit for each work, for the benchmark's comparison; `answerMs` is another time to the answer, for
   * tests that do not hang on it. `onCommit` is called after each commit with the
   * number of its works, `onSeal` with its seal, if it has one.
   */
  constructor(database: Database, clock: Clock, options: JournalOptions = {}) {
    this.#database = database;
    this.#clock = clock;
    this.#largestBatch = options.largestBatch ?? LARGEST_BATCH;
    this.#queue = new WorkQueue(this.#largestBatch);
    this.#options = options;
  }

  /**
   * Runs `work` in a transaction together with whatever else is waiting, and answers when it is on disk. Rejects with what the work
   * threw; with `unavailable` when the queue is full, the store takes no writes, or the outcome of the commit is unknown.
   * `row` names what the work changes where other works may change it too: every node takes such rows in the order of their
   * names, so that batches wait for each other in a line and never in a ring, which PostgreSQL takes a second to break.
   */
  commit<T>(work: Work<T>, row = ''): Promise<T> {
    return this.#handInIfOpen(work, row, false);
  }

  /** The same for what no payment waits for, such as webhooks: a defect in it leaves the node ready. */
  commitAside<T>(work: Work<T>, row = ''): Promise<T> {
    return this.#handInIfOpen(work, row, true);
  }

  #handInIfOpen<T>(work: Work<T>, row: string, isAside: boolean): Promise<T> {
    if (this.#closed || this.#queue.isFull) {
      this.counters.refused += 1;
      return Promise.reject(unavailable());
    }
    return this.#handIn(work, row, isAside);
  }

  /**
   * The newest seal of all nodes, read in a commit that confirms it: no failover takes it back. Works after `close` too, for the last
   * checkpoint, but then fails at once if the last works have waited for the store in vain. Rejects as `commit` does.
   */
  newestSeal(): Promise<Seal | undefined> {
    if (this.#closed && this.#newest?.stands === false) return Promise.reject(unavailable());
    return this.#handIn(newestSeal, '');
  }

  /**
   * Runs `work` as `commit` does, with its rows, entry and seal, in a transaction of its own that is rolled back within `withinMs`
   * milliseconds. Rejects with `unavailable` where the store takes no writes, and with the error where the work is a defect.
   */
  rehearse(work: Work<unknown>, withinMs: number): Promise<void> {
    if (this.#closed) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      const dueMs = monotonicMs() + withinMs;
      this.#rehearsals.push({ work, row: '', dueMs, resolve: () => resolve(), reject });
      this.#running ??= this.#drain();
    });
  }

  #handIn<T>(work: Work<T>, row: string, isAside = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const dueMs = monotonicMs() + (this.#options.answerMs ?? ANSWER_MS);
      this.#queue.push({ work, row, isAside, dueMs, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#drain();
    });
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** The outcome of the newest commit that wrote something. Undefined before the first. The success of a probe does not count. */
  get newest(): CommitOutcome | undefined {
    return this.#newest;
  }

  get defects(): Defects {
    return this.#defects;
  }

  /** Whether the store takes writes, found out by one that changes nothing. Throws `OperationalError` when it does not. */
  probe(): Promise<void> {
    return this.commit((transaction) => transaction.probe());
  }

  /** Refuses new works and answers when those waiting are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#newestRun;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length + this.#rehearsals.length > 0) {
      await this.#queue.gather();
      for (const late of this.#queue.takeLate()) {
        this.counters.refused += 1;
        late.reject(unavailable());
      }
      const batch = this.#queue.take(this.#largestBatch).sort(byRow);
      if (batch.length > 0) await this.#runUntilWritten(batch);
      const rehearsal = this.#rehearsals.shift();
      if (rehearsal) await this.#runRehearsal(rehearsal);
    }
    this.#running = undefined;
  }

  /** Runs a batch until the next may begin: on SQLite that is before it is on the disk and answered. */
  async #runUntilWritten(batch: Waiting[]): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#newestRun = this.#run(batch, 1, resolve).finally(resolve);
    });
  }

  /** Commits a batch; one that cannot be committed whole, and was rolled back, is split until the culprit stands alone. */
  async #run(batch: Waiting[], run = 1, onWritten?: () => void): Promise<void> {
    const settle: (() => void)[] = [];
    let seal: Seal | undefined;
    try {
      const leftMs = Math.min(...batch.map(({ dueMs }) => dueMs)) - monotonicMs();
      const work = (queryable: Queryable) => this.#perform(queryable, batch, settle, this.#database.flushing);
      seal = await this.#database.transaction(work, leftMs, onWritten);
    } catch (error) {
      await this.#runFailed(batch, run, error);
      return;
    }
    // The commit stands. No error behind this line may run the works again.
    for (const answer of settle) answer();
    this.counters.commits += 1;
    this.counters.works += batch.length;
    if (seal) {
      this.#newest = { stands: true, at: monotonicMs() };
      this.#defects.inARow = 0;
    }
    try {
      if (seal) this.#options.onSeal?.(seal);
      this.#options.onCommit?.(batch.length);
    } catch (error) {
      setImmediate(() => {
        throw error; // a defect of who listens, which ends the process as any does, and no work of others
      });
    }
  }

  async #runFailed(batch: Waiting[], run: number, error: unknown): Promise<void> {
    const failure = error instanceof DatabaseError ? error.failure : 'fault';
    if (failure === 'contended' && run < CONTENDED_RUNS) {
      await this.#run(batch, run + 1);
    } else if (failure !== 'conflict' && failure !== 'fault') {
      this.#newest = { stands: false, at: monotonicMs() };
      // Refuse the waiting works now. A work that is done after its caller has given up would be a surprise.
      for (const waiting of [...batch, ...this.#queue.take(Number.POSITIVE_INFINITY)]) {
        waiting.reject(Object.assign(unavailable(), { cause: error }));
      }
    } else if (batch.length > 1) {
      const middle = batch.length >> 1;
      await this.#run(batch.slice(0, middle));
      await this.#run(batch.slice(middle));
    } else {
      this.#fail(batch[0]!, error instanceof FailedAfterWriting ? error.cause : error);
    }
  }

  /** Rejects a work, and counts what is a defect: neither a refusal nor a row that another was quicker to insert. */
  #fail({ reject, isAside }: Waiting, error: unknown): void {
    const isConflict = error instanceof DatabaseError && error.failure === 'conflict';
    if (!(error instanceof OperationalError || isConflict || isAside))
      this.#defects = { inARow: this.#defects.inARow + 1, at: monotonicMs() };
    reject(error);
  }

  async #runRehearsal(rehearsal: Waiting): Promise<void> {
    const settle: (() => void)[] = [];
    try {
      await this.#database.transaction(async (queryable) => {
        await this.#perform(queryable, [rehearsal], settle); // nothing may join: it would be rolled back with it
        await touchHead(queryable); // rejects if the last rows were refused
        throw new Rehearsed();
      }, rehearsal.dueMs - monotonicMs());
    } catch (error) {
      if (error instanceof Rehearsed) for (const answer of settle) answer();
      else if (!(error instanceof DatabaseError) || error.failure === 'fault') rehearsal.reject(error);
      else rehearsal.reject(Object.assign(unavailable(), { cause: error }));
    }
  }

  /** Runs a batch and what joins it while `flushing` lasts. Returns the seal, or undefined if there was nothing to write. */
  async #perform(on: Queryable, batch: Waiting[], settle: (() => void)[], flushing?: Promise<void>) {
    const attempt = new CommitAttempt(on, this.#database.engine, this.#options.timeZone ?? 'UTC');
    for (let works: readonly Waiting[] = [...batch]; ; works = await this.#join(batch, flushing)) {
      const outcomes = await attempt.run(works, this.#clock.now());
      for (const [i, { error, value }] of outcomes.entries())
        settle.push(() => (error === undefined ? works[i]!.resolve(value) : this.#fail(works[i]!, error)));
      if (!flushing) return attempt.seal(this.#clock.now());
      flushing = this.#database.flushing;
    }
  }

  /**
   * Adds to a batch the works that are handed in while the commit before it is flushed, and returns them. So the works of one batch run
   * while the disk is busy with the batch before. Once the flush has ended it waits for no more. Rejects as `Database.flushing` does.
   */
  async #join(batch: Waiting[], flushing: Promise<void> | undefined): Promise<readonly Waiting[]> {
    if (batch.length >= this.#largestBatch) {
      await flushing;
      return [];
    }
    await this.#queue.many(flushing);
    await this.#queue.gather();
    const joined = this.#queue.take(this.#largestBatch - batch.length);
    batch.push(...joined);
    return joined;
  }
}

interface JournalCounters {
  commits: number;
  works: number;
  /** Works that were turned away because too many waited, one waited too long, or the journal was closed. */
  refused: number;
}

/** How the newest commit ended that had something to write; `at` in milliseconds of the monotonic clock. */
interface CommitOutcome {
  stands: boolean;
  at: number;
}

/** Works that failed as defects since the newest commit that stands; `at`, of the last of them, as in `CommitOutcome`. */
interface Defects {
  inARow: number;
  at: number;
}

/**
 * Works waiting; beyond it the answer is 503 at once. More than there are connections: each waits with one. Refusing sooner would
 * cost more than it spares, since a client that is refused is back at once, and refusals leave no time for works.
 */
const LONGEST_QUEUE = 16_384;
/** A work that has less time left when its turn comes is refused: its caller is about to give up. */
const LEAST_LEFT_MS = 3000;
/** Works that are run together while the commit before is flushed; fewer wait for its end, because together each costs less. */
const RUN_WHILE_FLUSHING = 32;

interface Waiting {
  work: Work<unknown>;
  row: string;
  /** Whether no payment waits for it: that it fails as a defect does not count for readiness. */
  isAside?: boolean;
  /** When it must be answered, by the clock that never runs backwards. */
  dueMs: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

class WorkQueue {
  readonly #largestBatch: number;
  readonly #works: Waiting[] = [];
  /** Called when `RUN_WHILE_FLUSHING` works wait during a flush. */
  #onMany: (() => void) | undefined;
  /** Called when a batch is full, while one is gathered. */
  #onFull: (() => void) | undefined;

  constructor(largestBatch: number) {
    this.#largestBatch = largestBatch;
  }

  get length(): number {
    return this.#works.length;
  }

  get isFull(): boolean {
    return this.#works.length >= LONGEST_QUEUE;
  }

  push(waiting: Waiting): void {
    this.#works.push(waiting);
    if (this.#works.length === RUN_WHILE_FLUSHING) this.#onMany?.();
    if (this.#works.length === this.#largestBatch) this.#onFull?.();
  }

  take(most: number): Waiting[] {
    return this.#works.splice(0, most);
  }

  /** Takes out the works that wait too long to be begun. */
  takeLate(): Waiting[] {
    const late = monotonicMs() + LEAST_LEFT_MS;
    const inTime = this.#works.findIndex(({ dueMs }) => dueMs > late);
    return this.take(inTime === -1 ? this.#works.length : inTime);
  }

  /**
   * Lets the sockets that are readable by now hand in their works first: that is the whole batch. When it is full before, it waits
   * no longer: under a flood there is always a socket that is readable.
   */
  async gather(): Promise<void> {
    if (this.#works.length >= this.#largestBatch) return;
    await new Promise<void>((resolve) => {
      this.#onFull = resolve;
      setImmediate(resolve);
    });
    this.#onFull = undefined;
  }

  /** Resolves when enough works wait to be run together, and when `end` does. Rejects as `end` does. */
  async many(end: Promise<void> | undefined): Promise<void> {
    if (this.#works.length >= RUN_WHILE_FLUSHING) return;
    const many = Promise.withResolvers<void>();
    this.#onMany = many.resolve;
    await Promise.race([many.promise, end]);
    this.#onMany = undefined;
  }
}

/** The order of rows' names, in which every node changes them. */
export function byRow(one: { row: string }, other: { row: string }): number {
  return one.row < other.row ? -1 : one.row > other.row ? 1 : 0;
}
