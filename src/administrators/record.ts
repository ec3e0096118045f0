// The entry that every change of an administrator, and of what they prove themselves with, leaves in the history.
import type { Act } from '../journal/audit-entry.ts';
import { type Facts, type RowChange, recordRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { ADMINISTRATORS, type Administrator } from './administrator.ts';
import { PASSKEYS, type Passkey } from './rows.ts';

/** How an administrator is named in the history. */
export function actorOf(id: string): string {
  return `administrator:${id}`;
}

/** Records a change of an administrator. `facts` hold no personal data. Throws what `recordRow` does. */
export function recordAdministrator(
  transaction: Transaction,
  act: Act,
  action: string,
  change: RowChange<Administrator>,
  facts: Facts = {},
): Promise<void> {
  return recordRow(transaction, act, action, ADMINISTRATORS, change, facts);
}

/** Records that a passkey is no more. Throws what `recordRow` does. */
export function recordGone(transaction: Transaction, act: Act, before: Passkey): Promise<void> {
  return recordRow(transaction, act, 'passkey.removed', PASSKEYS, { before, after: undefined });
}
