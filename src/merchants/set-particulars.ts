// Writes what an operator says of a merchant of the store: its limits, and what receipts and letters say. Each leaves an entry.
import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { OperationalError } from '../lib/errors.ts';
import { commitChange, writeMerchant } from './change.ts';
import { type MerchantLimits, type StoredMerchant, writtenLimits } from './merchant.ts';
import { type Particulars, writtenParticulars } from './particulars.ts';

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
  { email, support, ...particulars }: Said,
  act: Act,
): Promise<StoredMerchant> {
  const given = Object.entries(particulars).filter(([, value]) => value !== undefined);
  // Who calls this is the operator, whose address counts as confirmed.
  const confirmed = email !== undefined && { email_confirmed: email === null ? undefined : true };
  return change(journal, merchantId, 'merchant.described', act, (before) => ({
    ...(email !== undefined && { email }),
    ...(support !== undefined && { support }),
    particulars: writtenParticulars({
      ...(before.particulars !== null && JSON.parse(before.particulars)),
      ...Object.fromEntries(given),
      ...confirmed,
    }),
  }));
}

/**
 * Puts `limits` in place of what a merchant may do more or less of than others; every limit that is not said is as for all. Throws
 * `not_found` where the store has no such merchant, `conflict` where others change it all the time, and what the journal throws.
 */
export const limitMerchant = (
  journal: Journal,
  merchantId: string,
  limits: MerchantLimits,
  act: Act,
): Promise<StoredMerchant> =>
  change(journal, merchantId, 'merchant.limited', act, () => ({ limits: writtenLimits(limits) }));

function change(
  journal: Journal,
  merchantId: string,
  action: string,
  act: Act,
  written: (before: StoredMerchant) => Partial<StoredMerchant>,
): Promise<StoredMerchant> {
  return commitChange(journal, merchantId, (transaction) =>
    writeMerchant(transaction, act, action, merchantId, (before) => {
      if (before.name === null) throw new OperationalError('not_found', 'The store has no such merchant.');
      return written(before);
    }),
  );
}
