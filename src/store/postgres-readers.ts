// The pool of connections for reads: a few, each used by one read at a time. A read that waits for one waits within its own deadline.
import { Budget } from './budget.ts';
import { DatabaseError } from './database.ts';
import type { Connection } from './postgres-connection.ts';
import type { Hosts } from './postgres-hosts.ts';

const READERS = 4;
/** Reads waiting for a connection; beyond it the answer is at once rather than late. */
const LONGEST_QUEUE = 4096;
/** Timeout for connections in use when the pool closes. */
const CLOSE_MS = 8000;

export class Readers {
  readonly #hosts: Hosts;
  readonly #waiting = new Set<() => void>();
  #idle: Connection[] = [];
  #free = READERS;
  #isClosed = false;

  constructor(hosts: Hosts) {
    this.#hosts = hosts;
  }

  /** Lends a connection to `use`; one on which that failed is not used again. Throws `DatabaseError`, and what `use` throws. */
  async lend<T>(budget: Budget, use: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new DatabaseError('unavailable', 'the store is closed');
    await this.#turn(budget);
    try {
      const connection = this.#takeIdle() ?? (await this.#hosts.connect(budget, 'read'));
      try {
        const result = await use(connection);
        this.#idle.push(connection);
        return result;
      } catch (error) {
        connection.discard();
        if (error instanceof DatabaseError && error.failure === 'unavailable') this.#discardIdle();
        throw error;
      }
    } finally {
      this.#next();
    }
  }

  /** Lends no more, and closes all connections when they are given back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const budget = new Budget(CLOSE_MS);
    await Promise.allSettled(Array.from({ length: READERS }, () => this.#turn(budget)));
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  #takeIdle(): Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (!connection || this.#hosts.isCurrent(connection)) return connection;
      connection.discard();
    }
  }

  /** Where one connection gave no answer, the idle ones may lead to the same silence. */
  #discardIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.discard();
  }

  /** Waits until fewer than `READERS` are lent. */
  async #turn(budget: Budget): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    if (this.#waiting.size >= LONGEST_QUEUE) throw new DatabaseError('unavailable', 'too many reads wait');
    const leftMs = budget.left(); // throws if no time is left; then the turn must go to another read
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const timer = setTimeout(() => {
      this.#waiting.delete(resolve);
      reject(new DatabaseError('unavailable', 'no connection became free in time'));
    }, leftMs);
    await promise.finally(() => clearTimeout(timer));
  }

  /** Gives the turn to the read that has waited longest. */
  #next(): void {
    const [first] = this.#waiting;
    if (first) {
      this.#waiting.delete(first);
      first();
    } else this.#free += 1;
  }
}
