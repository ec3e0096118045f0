// The entry that every change of an administrator, and of what they prove themselves with, leaves in the history.
import type { Act } from '../journal/audit-entry.ts';
import { type Facts, recordRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { ADMINISTRATORS, type Administrator } from './administrator.ts';
import type { Passkey } from './rows.ts';

/** How an administrator is named in the history. */
export function actorOf(id: string): string {
  return `administrator:${id}`;
}

/** The action of an entry that seals an administrator's secret anew. It changes nothing of how they sign in. */
export const TOTP_SEALED = 'administrator.totp_sealed';

/** Records a change of an administrator, given as they are after it. `facts` hold no personal data. */
export function recordAdministrator(
  transaction: Transaction,
  act: Act,
  action: string,
  administrator: Administrator,
  facts: Facts = {},
): void {
  recordRow(transaction, act, action, ADMINISTRATORS, administrator, facts);
}

/** Records that a passkey is no more. */
export function recordGone(transaction: Transaction, act: Act, { id }: Passkey): void {
  const { actor, request_id } = act;
  transaction.record({ actor, action: 'passkey.removed', subject: id, request_id, facts: { row: null } });
}
