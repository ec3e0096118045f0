// The secret of an administrator's authenticator app as the store holds it: sealed by the key ring, for their row alone.

import { SecretKeysUnfit } from '../journal/keys/key-file.ts';
import type { Cell, KeyRing } from '../journal/keys/key-ring.ts';
import { holdStoredKey } from '../journal/keys/queries.ts';
import type { Transaction } from '../journal/transaction.ts';
import { unavailable } from '../lib/errors.ts';
import type { Administrator } from './administrator.ts';

const cellOf = (id: string): Cell => ({ table: 'administrators', row: id, column: 'totp_secret' });

/**
 * Seals a secret (base 32, RFC 4648) for an administrator's row, in the transaction that writes it. Throws `unavailable` if the key of
 * this node's ring was removed: the node has not heard of its successor yet.
 */
export async function sealTotpSecret(
  transaction: Transaction,
  ring: KeyRing,
  { id }: Pick<Administrator, 'id'>,
  secret: string,
): Promise<string> {
  if (!(await holdStoredKey(transaction, ring.current))) throw unavailable();
  return ring.seal(cellOf(id), secret);
}

/**
 * The secret in base 32; null if they have none. Throws `unavailable` if this node lacks the key, and `Error` if the text was changed,
 * is not sealed or belongs to another row.
 */
export function openTotpSecret(
  ring: KeyRing,
  { id, totp_secret }: Pick<Administrator, 'id' | 'totp_secret'>,
): string | null {
  if (totp_secret === null) return null;
  try {
    return ring.open(cellOf(id), totp_secret);
  } catch (error) {
    throw error instanceof SecretKeysUnfit ? Object.assign(unavailable(), { cause: error }) : error;
  }
}
