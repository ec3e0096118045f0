// A row that is not as the history says, and the entry with which an operator acknowledges that.
import { counted } from '../lib/counted.ts';
import { OperationalError } from '../lib/errors.ts';
import { type Act, type AuditEntry, type Entry, rowDigest } from './audit-entry.ts';
import { findRow, newestEntriesAbout } from './queries.ts';
import type { Transaction } from './transaction.ts';

/** The action of an entry that acknowledges a fault. Its subject is the row's. */
export const ACKNOWLEDGED = 'history.acknowledged';

/** A row that is not as the history says. */
export interface RowFault {
  /** `contradictory`: the row is as its last entry says, but its version or state is not what its entries lead to. */
  kind: 'changed' | 'missing' | 'added' | 'contradictory';
  /** In words, without a full stop. */
  problem: string;
  /** The subject of entries about the row. */
  subject: string;
  /** The last entry about it; undefined if there is none. */
  entry: number | undefined;
  /** The digest of the row as it was found; null if it is missing. */
  row: string | null;
  /** The version and the state of the row as it was found, in tables that have them. */
  version: number | undefined;
  state: string | undefined;
  /** Whether an entry can speak of it: its id is one that the program could have made. */
  isNameable: boolean;
  /** Where to find the row. */
  place: { table: { name: string; columns: readonly string[] }; key: string; value: string };
}

/** An entry that acknowledges a fault, as it is reported. */
export interface Acknowledgement {
  entry: number;
  /** Milliseconds since 1970. */
  at: number;
  subject: string;
  fault: string;
  reason: string;
}

/** The facts of the entry that acknowledges `fault`. Later entries about the row are held to them. */
function acknowledgementFacts(
  { kind, entry, row, version, state }: RowFault,
  reason: string,
): Entry['facts'] {
  return {
    fault: kind,
    reason,
    entry: entry ?? null,
    ...(version !== undefined && { version }),
    ...(state !== undefined && { state }),
    row,
  };
}

/** Reads what `acknowledgementFacts` wrote into an entry, as far as it is reported. */
export function acknowledgementIn(
  { number, at, subject }: Pick<AuditEntry, 'number' | 'at' | 'subject'>,
  { fault, reason }: Record<string, unknown>,
): Acknowledgement {
  return { entry: number, at, subject, fault: String(fault), reason: String(reason) };
}

/** What is said behind `verified` of a store with faults that an operator acknowledged. Empty if there are none. */
export function withKnown(acknowledged = 0): string {
  return acknowledged > 0 ? `, with ${counted(acknowledged, 'acknowledged fault')}` : '';
}

/**
 * Records that `faults`, as verifying found them, are known. From then on each row is held to what it was found as, so verifying names
 * it again as soon as it changes. Throws `conflict` if a row or its history has changed since it was found, `DatabaseError`.
 */
export async function acknowledgeFaults(
  transaction: Transaction,
  act: Act,
  faults: readonly RowFault[],
  reason: string,
): Promise<void> {
  for (const fault of faults) {
    const { subject, entry, row, place } = fault;
    const { table, key, value } = place;
    const [last] = await newestEntriesAbout(transaction, subject, 1);
    const found = await findRow(transaction, table.name, table.columns, key, value);
    const digest = found ? rowDigest(table.columns, found) : null;
    if (last?.number !== entry || digest !== row)
      throw new OperationalError('conflict', `${subject} has changed since it was verified. Verify again.`);
    transaction.record({ ...act, action: ACKNOWLEDGED, subject, facts: acknowledgementFacts(fault, reason) });
  }
}
