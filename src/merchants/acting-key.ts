// Which API keys may make, replace and revoke others, judged in the transaction that does it.
import type { Act } from '../journal/audit-entry.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { type ApiKey, isInactive, REFUSED_KEY, type StoredKey, SUSPENDED_MERCHANT } from './merchant.ts';
import { findKey, lockMerchant } from './queries.ts';

/** Who makes, replaces or revokes a key, and with which key, where it is done with one. */
export interface KeyAct extends Act {
  key?: ApiKey;
}

/**
 * Takes a merchant's turn: from here on all changes of its keys wait for this one, on every node, where the merchant has a row.
 * Gives the row of the key that it is done with, if there is one. A key that ended, or whose merchant was suspended, on another
 * node since the request came leaves no key behind. Throws `unauthorized` and `forbidden` for that.
 */
export async function takeTurn(
  transaction: Transaction,
  merchantId: string,
  { key }: KeyAct,
): Promise<StoredKey | undefined> {
  const merchant = await lockMerchant(transaction, merchantId);
  if (!key) return undefined;
  const row = await findKey(transaction, key.id);
  if (isInactive(key, transaction.now) || (row && isInactive(row, transaction.now)))
    throw new OperationalError('unauthorized', REFUSED_KEY);
  if (merchant && merchant.suspended_at !== null) throw new OperationalError('forbidden', SUSPENDED_MERCHANT);
  return row;
}

/** Throws `forbidden` for a key that was replaced: until its end it reads and creates payments alone. */
export function refuseReplaced(acting: Pick<ApiKey, 'replaced_by'> | undefined): void {
  if (acting?.replaced_by)
    throw new OperationalError(
      'forbidden',
      `This key was replaced by ${acting.replaced_by}: until it expires it reads and creates payments, and nothing else.`,
    );
}

/** No key outlives the one it was made with: the nearer of the two ends, in milliseconds since 1970; undefined where neither ends. */
export function withinLife(
  expires_at: number | null,
  { key }: KeyAct,
  acting: StoredKey | undefined,
): number | null {
  const ends = [expires_at, key?.expires_at, acting?.expires_at].filter((end) => end != null);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** The maker of a key: the id of the key it was made with, else the kind of actor. Undefined for the first key of a registration. */
export function makerOf({ actor, key }: KeyAct): string | null {
  if (key) return key.id;
  const kind = actor.split(':', 1)[0]!;
  return kind === 'operator' || kind === 'administrator' ? kind : null;
}
