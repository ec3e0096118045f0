// Changes which keys a store counts: a new key to seal with, and keys that count no more. Each change leaves an entry.

import { OperationalError } from '../../lib/errors.ts';
import type { Act } from '../audit-entry.ts';
import { entriesOf } from '../queries.ts';
import { recordRow } from '../record-row.ts';
import type { Transaction } from '../transaction.ts';
import { removeStoredKey, SECRET_KEYS, type StoredSecretKey, storedSecretKeys } from './queries.ts';

/** The subject of entries about keys as a whole. It is the prefix of the subjects about one key. */
export const SECRETS_SUBJECT = 'secrets';
/** What stands before a key's id in the subject of its entries. */
export const SECRET_KEY_PREFIX = `${SECRETS_SUBJECT}_`;

const RECORDED_KEYS = {
  ...SECRET_KEYS,
  subjectOf: ({ id }: StoredSecretKey) => SECRET_KEY_PREFIX + id,
};

function recordKey(
  transaction: Transaction,
  act: Act,
  action: string,
  after: StoredSecretKey,
  before?: StoredSecretKey,
): Promise<void> {
  return recordRow(transaction, act, action, RECORDED_KEYS, { before, after });
}

/** Makes every node read its keys again, so that each knows `key` before any node uses it. */
export function announceKey(transaction: Transaction, { actor, request_id }: Act, key: string): void {
  transaction.record({
    actor,
    action: 'secrets.key_announced',
    subject: SECRETS_SUBJECT,
    request_id,
    facts: { key },
  });
}

/** Whether a store has only the key that it began with. That key has no entry until it gets a successor. */
export async function isFirstUntold(
  database: Pick<Transaction, 'query'>,
  stored: readonly StoredSecretKey[],
): Promise<boolean> {
  const [first, second] = stored;
  if (!first || second || first.removed_at !== null) return false;
  return (await entriesOf(database, SECRET_KEY_PREFIX + first.id)).length === 0;
}

/** Makes `id` the key to seal with. */
export async function useKey(transaction: Transaction, act: Act, id: string): Promise<void> {
  const stored = await storedSecretKeys(transaction);
  const [first, newest] = [stored[0]!, stored.at(-1)!];
  if (await isFirstUntold(transaction, stored))
    await recordKey(transaction, act, 'secrets.key_recorded', first);
  // The key with the latest `created_at` is the current one, also if the clock went back.
  const created_at = Math.max(transaction.now, newest.created_at + 1);
  const row: StoredSecretKey = { id, created_at, removed_at: null };
  transaction.insert(SECRET_KEYS, row);
  await recordKey(transaction, act, 'secrets.key_used', row);
}

/** Marks a key as removed, under the given action. Throws `not_found` if the store counts no such key. */
export async function dropKey(transaction: Transaction, act: Act, action: string, id: string): Promise<void> {
  const row = await removeStoredKey(transaction, id);
  if (!row) throw new OperationalError('not_found', `The store counts no key ${id}.`);
  await recordKey(transaction, act, action, row, { ...row, removed_at: null });
}
