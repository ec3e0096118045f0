// Acknowledges rows that are not as the history says: each leaves an entry that names the fault, with the row as it was found.

import { OperationalError } from '../lib/errors.ts';
import { type Act, rowDigest } from './audit-entry.ts';
import { findRow, newestEntriesAbout } from './queries.ts';
import { ACKNOWLEDGED, acknowledgementFacts, type RowFault } from './row-fault.ts';
import type { Transaction } from './transaction.ts';

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
