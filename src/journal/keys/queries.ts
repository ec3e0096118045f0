// The SQL about the keys for secrets at rest that a store needs.

import type { Reader } from '../../store/database.ts';
import { integer, integerOrNull, type RowOf, table, text } from '../../store/table.ts';
import type { Transaction } from '../transaction.ts';

/** A row of `secret_keys`. Times in milliseconds since 1970. */
export const SECRET_KEYS = table('secret_keys', {
  /** The key's id, as `secrets.key` has it. */
  id: text(),
  /** From when the store is sealed with it. */
  created_at: integer(),
  /** From when it counts no more. */
  removed_at: integerOrNull(),
});
export type StoredSecretKey = RowOf<typeof SECRET_KEYS>;

const SECRET_KEY = SECRET_KEYS.columnList;

/** All keys of a store, oldest first: the last that is not removed is the one to seal with. */
export function storedSecretKeys(database: Reader): Promise<StoredSecretKey[]> {
  return database.query(`select ${SECRET_KEY} from secret_keys order by created_at, id`);
}

/** Returns whether the store counts a key. If so, the key cannot be removed until the transaction ends. */
export async function holdStoredKey(transaction: Transaction, id: string): Promise<boolean> {
  const sql =
    'update secret_keys set removed_at = removed_at where id = ? and removed_at is null returning id';
  return (await transaction.query(sql, id)).length > 0;
}

/** Marks a key as removed. Returns the row after it; undefined if the store counts no such key. */
export async function removeStoredKey(
  transaction: Transaction,
  id: string,
): Promise<StoredSecretKey | undefined> {
  const sql = `update secret_keys set removed_at = ? where id = ? and removed_at is null returning ${SECRET_KEY}`;
  return (await transaction.change<StoredSecretKey>(sql, transaction.now, id))[0];
}
