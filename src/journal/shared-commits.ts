// Gathers what a worker of a node writes into few commits, because each costs a flush that payments wait for.

import { monotonicMs } from '../lib/time.ts';
import { byRow, type Journal } from './journal.ts';
import type { Transaction, Work } from './transaction.ts';

/** Between two commits of the worker: 33 a second at most, beside some hundreds of payments. */
const BETWEEN_MS = 30;

interface Gathered {
  row: string;
  work: Work<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class SharedCommits {
  readonly #journal: Journal;
  #gathered: Gathered[] = [];
  #begunAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /**
   * Runs `work` in a commit together with others of the next 30 milliseconds, at once if there was none in the last. `row` names
   * what it changes, as for `Journal.commit`. Rejects as that does: where one work throws, nothing of the commit stands.
   */
  commit<T>(work: Work<T>, row: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#gathered.push({ row, work, resolve: resolve as (value: unknown) => void, reject });
      const waitMs = Math.max(0, this.#begunAt + BETWEEN_MS - monotonicMs());
      this.#timer ??= setTimeout(() => void this.#run(), waitMs);
    });
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#begunAt = monotonicMs();
    const all = this.#gathered.sort(byRow);
    this.#gathered = [];
    const runAll = async (transaction: Transaction) => {
      const values: unknown[] = [];
      for (const { work } of all) values.push(await work(transaction));
      return values;
    };
    try {
      const values = await this.#journal.commitAside(runAll, all[0]!.row);
      for (const [i, { resolve }] of all.entries()) resolve(values[i]);
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }
}
