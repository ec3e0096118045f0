// Gives a merchant of the store limits of its own, or those of all again, with an entry of the history.
import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { commitChange } from './change.ts';
import type { MerchantLimits, StoredMerchant } from './merchant.ts';
import { findMerchant } from './queries.ts';
import { writeMerchant } from './register.ts';

/**
 * Puts `limits` in place of what a merchant may do more or less of than others; every limit that is not said is as for all. Throws
 * `not_found` where the store has no such merchant, `conflict` where others change it all the time, and what the journal throws.
 */
export function limitMerchant(
  journal: Journal,
  merchantId: string,
  limits: MerchantLimits,
  act: Act,
): Promise<StoredMerchant> {
  return commitChange(journal, merchantId, (transaction) => limit(transaction, merchantId, limits, act));
}

async function limit(
  transaction: Transaction,
  merchantId: string,
  limits: MerchantLimits,
  act: Act,
): Promise<StoredMerchant> {
  const before = await findMerchant(transaction, merchantId);
  if (!before || before.name === null)
    throw new OperationalError('not_found', 'The store has no such merchant.');
  return writeMerchant(transaction, act, 'merchant.limited', before, {
    ...before,
    limits: Object.keys(limits).length === 0 ? null : JSON.stringify(limits),
  });
}
