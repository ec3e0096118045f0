// The works that wait for a commit, oldest first: how many may wait, for how long, and when enough are there to begin.
import { monotonicMs } from '../lib/time.ts';
import type { Work } from './transaction.ts';

/**
 * Works waiting; beyond it the answer is 503 at once. More than there are connections: each waits with one. Refusing sooner would
 * cost more than it spares, since a client that is refused is back at once, and refusals leave no time for works.
 */
const LONGEST_QUEUE = 16_384;
/** A work that has less time left when its turn comes is refused: its caller is about to give up. */
const LEAST_LEFT_MS = 3000;
/** Works that are run together while the commit before is flushed; fewer wait for its end, because together each costs less. */
const RUN_WHILE_FLUSHING = 32;

/** A work that was handed in, and how to answer it. */
export interface Waiting {
  work: Work<unknown>;
  row: string;
  /** Whether no payment waits for it: that it fails as a defect does not count for readiness. */
  isAside?: boolean;
  /** When it must be answered, by the clock that never runs backwards. */
  dueMs: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class WorkQueue {
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

  /** Takes up to `most` works out. */
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
export function byRow(one: Waiting, other: Waiting): number {
  return one.row < other.row ? -1 : one.row > other.row ? 1 : 0;
}
