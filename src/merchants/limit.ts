// Gives a merchant of the store limits of its own, or those of all again, with an entry of the history.
import type { Act } from '../journal/audit-entry.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import type { MerchantLimits } from './merchant.ts';
import { findMerchant, replaceMerchant } from './queries.ts';
import { recordMerchant } from './register.ts';
import type { StoredMerchant } from './stored-merchant.ts';

/**
 * Puts `limits` in place of what a merchant may do more or less of than others; every limit that is not said is as for all. Raises
 * `not_found` where the store has no such merchant, `conflict` where somebody else changed it at the same moment.
 */
export async function limitMerchant(
  transaction: Transaction,
  merchantId: string,
  limits: MerchantLimits,
  act: Act,
): Promise<StoredMerchant> {
  const before = await findMerchant(transaction, merchantId);
  if (!before || before.name === null)
    throw new OperationalError('not_found', 'The store has no such merchant.');
  const merchant: StoredMerchant = {
    ...before,
    version: before.version + 1,
    updated_at: transaction.now,
    limits: Object.keys(limits).length === 0 ? null : JSON.stringify(limits),
  };
  if (!(await replaceMerchant(transaction, merchant)))
    throw new OperationalError('conflict', 'The merchant was changed at the same moment. Try again.');
  recordMerchant(transaction, act, 'merchant.limited', merchant);
  return merchant;
}
