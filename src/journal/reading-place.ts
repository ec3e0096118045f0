// A worker's place in the history: the last entry that it passed, and the lease by which one node at a time works from there.
import { monotonicMs } from '../lib/time.ts';
import type { Transaction, Work } from './transaction.ts';

/** A table of places. Rows have at least `number`, `leased_by` and `leased_until`. */
export interface PlaceTable {
  name: string;
  /** The column that names a place. */
  key: string;
  /** The columns that are read, as a statement lists them. */
  columnList: string;
}

/** What every row of such a table holds. */
export interface ReadingPlace {
  /** The number of the last entry that was worked on, or passed over. */
  number: number;
  /** The node that works from the place until `leased_until`; null if none does. */
  leased_by: string | null;
  leased_until: number;
}

interface LeaseParts {
  table: PlaceTable;
  /** What names the place in the key column. */
  id: string;
  /** Names the holder. Another one at each start. */
  node: string;
  leaseMs: number;
  /** Runs a work in a commit. Rejects as the journal does. */
  commit<T>(work: Work<T>): Promise<T>;
}

/** The lease of a place, as one node knows it. A lease that ends later than any node could have written is none: a clock was set back. */
export class Lease<R extends ReadingPlace> {
  readonly #parts: LeaseParts;
  /** By the monotonic clock. */
  #ends = Number.NEGATIVE_INFINITY;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  /** How long this node has it still, in milliseconds; not above zero if it has not. */
  get leftMs(): number {
    return this.#ends - monotonicMs();
  }

  /** Takes or renews it. Returns the place, or undefined if another node has it. Throws as the journal does. */
  async take(): Promise<R | undefined> {
    const { table, id, node, leaseMs, commit } = this.#parts;
    const ends = monotonicMs() + leaseMs;
    const [place] = await commit((transaction) => {
      const { now } = transaction;
      return transaction.query<R>(
        `update ${table.name} set leased_by = ?, leased_until = ? where ${table.key} = ?
         and (leased_by is null or leased_by = ? or leased_until <= ? or leased_until > ?) returning ${table.columnList}`,
        ...[node, now + leaseMs, id, node, now, now + 2 * leaseMs],
      );
    });
    this.#ends = place ? ends : Number.NEGATIVE_INFINITY;
    return place;
  }

  /** Whether another node works from the place at `now`, in milliseconds since 1970. */
  isOthers({ leased_by, leased_until }: ReadingPlace, now: number): boolean {
    const { node, leaseMs } = this.#parts;
    const leftMs = leased_until - now;
    return leased_by !== null && leased_by !== node && leftMs > 0 && leftMs <= 2 * leaseMs;
  }

  /** Moves the place from one entry to a later one. Returns false if it has moved or has another holder. */
  async advance(transaction: Transaction, { from, to }: { from: number; to: number }): Promise<boolean> {
    const { table, id, node } = this.#parts;
    const sql = `update ${table.name} set number = ? where ${table.key} = ? and number = ? and leased_by = ? returning number`;
    return (await transaction.query(sql, to, id, from, node)).length > 0;
  }

  /** Gives it back, so that any node may take it at once. Throws as the journal does. */
  async release(): Promise<void> {
    if (this.#ends === Number.NEGATIVE_INFINITY) return;
    this.#ends = Number.NEGATIVE_INFINITY;
    const { table, id, node, commit } = this.#parts;
    const sql = `update ${table.name} set leased_by = null, leased_until = 0 where ${table.key} = ? and leased_by = ?`;
    await commit((transaction) => transaction.measure(sql, id, node));
  }
}

/** Ends every lease of a table. */
export function endLeases(transaction: Transaction, { name }: PlaceTable): Promise<void> {
  return transaction.measure(
    `update ${name} set leased_by = null, leased_until = 0 where leased_by is not null`,
  );
}
