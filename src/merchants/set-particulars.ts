// Writes what an operator says of a merchant of the store: its limits, and what receipts and letters say. Each leaves an entry.
import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { commitChange } from './change.ts';
import type { MerchantLimits, StoredMerchant } from './merchant.ts';
import { type Particulars, writtenParticulars } from './particulars.ts';
import { findMerchant } from './queries.ts';
import { writeMerchant } from './register.ts';

/** What is to be said; null takes what was said away. */
type Said = { [name in keyof Particulars]?: Particulars[name] | null } & Partial<
  Pick<StoredMerchant, 'email' | 'support'>
>;

/**
 * Writes particulars over those that the merchant has; what is undefined stays as it is. Throws `not_found` where the store has no such
 * merchant, `conflict` where others change it all the time, and what the journal throws.
 */
export function setParticulars(
  journal: Journal,
  merchantId: string,
  said: Said,
  act: Act,
): Promise<StoredMerchant> {
  const { email, support, ...particulars } = said;
  return commitChange(journal, merchantId, async (transaction) => {
    const before = await findMerchant(transaction, merchantId);
    if (!before || before.name === null)
      throw new OperationalError('not_found', 'The store has no such merchant.');
    const known = before.particulars === null ? {} : (JSON.parse(before.particulars) as Particulars);
    const given = Object.entries(particulars).filter(([, value]) => value !== undefined);
    // Who calls this is the operator, whose address counts as confirmed.
    const confirmed = email !== undefined && { email_confirmed: email === null ? undefined : true };
    return writeMerchant(transaction, act, 'merchant.described', before, {
      ...before,
      ...(email !== undefined && { email }),
      ...(support !== undefined && { support }),
      particulars: writtenParticulars({
        ...known,
        ...Object.fromEntries(given),
        ...confirmed,
      } as Particulars),
    });
  });
}

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
