// Suspends a merchant and lets it go on again: each with a reason, in an entry of the history.

import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { holdsCardNumber } from '../lib/card-number.ts';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { phrase } from '../lib/phrases.ts';
import { textFault } from '../lib/text.ts';
import { commitChange, writeMerchant } from './change.ts';
import { changesOf, type StateChange, type StoredMerchant } from './merchant.ts';

/** Code points of a reason. */
export const REASON_MAXIMUM = 500;
/** Maximum number of changes with reasons in a merchant's row. The history keeps all. */
const CHANGES_KEPT = 100;

interface StateAct extends Act {
  /** `adm_…`, or `operator`. */
  by: string;
}

/**
 * Suspends a merchant, or lets it go on. Throws `validation_failed` for the reason, `invalid_status` where the merchant is so
 * already, `conflict` where others change it all the time, and what the journal throws.
 */
export async function changeMerchantState(
  journal: Journal,
  merchantId: string,
  act: StateChange['act'],
  who: StateAct,
  reason: string,
): Promise<StoredMerchant> {
  const text = reason.trim();
  const fault = reasonFault(text);
  if (fault) throw validationFailed({ reason: fault });
  const suspending = act === 'suspended';
  const { actor, by, request_id } = who;
  return commitChange(journal, merchantId, (transaction) =>
    writeMerchant(transaction, { actor, request_id }, `merchant.${act}`, merchantId, (before) => {
      if ((before.suspended_at !== null) === suspending) throw alreadySo(suspending);
      const at = transaction.now;
      const changes = [
        ...changesOf(before),
        { act, by, at, entry_version: before.version + 1, reason: text },
      ];
      return {
        suspended_at: suspending ? at : null,
        suspended_by: suspending ? by : null,
        changes: JSON.stringify(changes.slice(-CHANGES_KEPT)),
      };
    }),
  );
}

/** What is wrong with the reason of an act, which the history or a row keeps. */
export function reasonFault(reason: string): string | undefined {
  if (reason === '') return phrase('Enter a reason.');
  if (holdsCardNumber(reason)) return phrase('Must not contain a card number.');
  return textFault(reason, REASON_MAXIMUM, true);
}

function alreadySo(suspended: boolean): OperationalError {
  return new OperationalError(
    'invalid_status',
    suspended ? phrase('The merchant is suspended already.') : phrase('The merchant is not suspended.'),
  );
}
