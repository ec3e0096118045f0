// What the history says of the keys for secrets, for holding their rows against it.
import { compareRows, type RowCheck } from '../rows.ts';
import { isFirstUntold, SECRET_KEY_PREFIX } from './change.ts';
import { SECRET_KEYS, type StoredSecretKey, storedSecretKeys } from './queries.ts';

/** The check of `secret_keys`, for `verifyHistory`. */
export const verifySecretKeys: RowCheck = async (view, report) => {
  if (await isFirstUntold(view, await storedSecretKeys(view))) return { secret_keys: 1 };
  const table = {
    table: SECRET_KEYS,
    key: 'id',
    prefix: SECRET_KEY_PREFIX,
    keyPrefix: SECRET_KEY_PREFIX,
    noun: 'key for secrets',
    creates: ['secrets.key_used', 'secrets.key_recorded'],
  } as const;
  return { secret_keys: await compareRows<StoredSecretKey>(view, table, report) };
};
