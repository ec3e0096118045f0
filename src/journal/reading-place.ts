// A worker's place in the history: the last entry that it passed, and the lease by which one node at a time works from there.
import type { Transaction } from './transaction.ts';

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

/**
 * Takes or renews the lease of a place for `node` until `until`, in milliseconds since 1970. Returns the row, or undefined if another
 * node has it. A lease that ends later than any node could have written is none: a clock was set back.
 */
export async function leasePlace<R extends ReadingPlace>(
  transaction: Transaction,
  { name, key, columnList }: PlaceTable,
  id: string,
  node: string,
  until: number,
): Promise<R | undefined> {
  const rows = await transaction.query<R>(
    `update ${name} set leased_by = ?, leased_until = ?
     where ${key} = ? and (leased_by is null or leased_by = ? or leased_until <= ? or leased_until > ?) returning ${columnList}`,
    node,
    until,
    id,
    node,
    transaction.now,
    until + (until - transaction.now),
  );
  return rows[0];
}

/**
 * Whether a node other than `node` works from a place at `now`. A lease that ends later than any node could have written, each for
 * `leaseMs`, is none: a clock was set back.
 */
export function isLeasedByOther(
  { leased_by, leased_until }: ReadingPlace,
  node: string,
  now: number,
  leaseMs: number,
): boolean {
  const leftMs = leased_until - now;
  return leased_by !== null && leased_by !== node && leftMs > 0 && leftMs <= 2 * leaseMs;
}

/** Ends every lease of a table. */
export function endLeases(transaction: Transaction, { name }: PlaceTable): Promise<void> {
  return transaction.measure(
    `update ${name} set leased_by = null, leased_until = 0 where leased_by is not null`,
  );
}

/** Gives the lease of `node` back. */
export function releasePlace(
  transaction: Transaction,
  { name, key }: PlaceTable,
  id: string,
  node: string,
): Promise<void> {
  const sql = `update ${name} set leased_by = null, leased_until = 0 where ${key} = ? and leased_by = ?`;
  return transaction.measure(sql, id, node);
}

/** Moves a place that `node` has leased from one entry to a later one. Returns false if it has moved or has another holder. */
export async function advancePlace(
  transaction: Transaction,
  { name, key }: PlaceTable,
  id: string,
  node: string,
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  const sql = `update ${name} set number = ? where ${key} = ? and number = ? and leased_by = ? returning number`;
  return (await transaction.query(sql, to, id, from, node)).length > 0;
}
