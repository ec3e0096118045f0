// Writes what a merchant of the store says of itself on receipts and in letters, with an entry of the history.
import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { OperationalError } from '../lib/errors.ts';
import { commitChange } from './change.ts';
import type { StoredMerchant } from './merchant.ts';
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
