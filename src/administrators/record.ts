// The entry that every change of an administrator, and of what they prove themselves with, leaves in the history.
import { type Act, rowDigest } from '../journal/audit-entry.ts';
import type { Transaction } from '../journal/transaction.ts';
import { ADMINISTRATOR_COLUMNS, type Administrator } from './administrator.ts';
import type { Passkey } from './rows.ts';

export type { Act };

export type Facts = Record<string, string | number | null>;

/** How an administrator is named in the history. */
export function actorOf(id: string): string {
  return `administrator:${id}`;
}

/** Records a change of `row`, given as it is after it. `facts` hold no personal data. */
export function recordRow(
  transaction: Transaction,
  act: Act,
  action: string,
  columns: readonly string[],
  row: { id: string },
  facts: Facts = {},
): void {
  transaction.record({
    actor: act.actor,
    action,
    subject: row.id,
    request_id: act.request_id,
    facts: { ...facts, row: rowDigest(columns, row) },
  });
}

/** The same for an administrator. */
export function recordAdministrator(
  transaction: Transaction,
  act: Act,
  action: string,
  administrator: Administrator,
  facts: Facts = {},
): void {
  recordRow(transaction, act, action, ADMINISTRATOR_COLUMNS, administrator, facts);
}

/** Records that a passkey is no more. */
export function recordGone(transaction: Transaction, act: Act, { id }: Passkey): void {
  const { actor, request_id } = act;
  transaction.record({ actor, action: 'passkey.removed', subject: id, request_id, facts: { row: null } });
}
