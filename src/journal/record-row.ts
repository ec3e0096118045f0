// The entry that every change of a row leaves: who, what, when, and the digest of the row as it stands now.
import { type Act, rowDigest } from './audit-entry.ts';
import type { Transaction } from './transaction.ts';

/** What an entry tells besides; no personal data. */
export type Facts = Record<string, string | number | null>;

/** Records a change of `row`, given as it is after it; `columns` are those that its digest covers. */
export function recordRow(
  transaction: Transaction,
  { actor, request_id }: Act,
  action: string,
  columns: readonly string[],
  row: { id: string },
  facts: Facts = {},
): void {
  transaction.record({
    actor,
    action,
    subject: row.id,
    request_id,
    facts: { ...facts, row: rowDigest(columns, row) },
  });
}
