// Suspends a merchant and lets it go on again: each with a reason, in an entry of the history.

import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction } from '../journal/transaction.ts';
import { holdsCardNumber } from '../lib/card-number.ts';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { phrase } from '../lib/phrases.ts';
import { textFault } from '../lib/text.ts';
import { commitChange } from './change.ts';
import { changesOf, type StateChange, type StoredMerchant } from './merchant.ts';
import { findMerchant } from './queries.ts';
import { newMerchant, writeMerchant } from './register.ts';

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
  return commitChange(journal, merchantId, (transaction) => change(transaction, merchantId, act, who, text));
}

/** What is wrong with the reason of an act, which the history or a row keeps. */
export function reasonFault(reason: string): string | undefined {
  if (reason === '') return phrase('Enter a reason.');
  if (holdsCardNumber(reason)) return phrase('Must not contain a card number.');
  return textFault(reason, REASON_MAXIMUM, true);
}

async function change(
  transaction: Transaction,
  merchantId: string,
  act: StateChange['act'],
  { actor, by, request_id }: StateAct,
  reason: string,
): Promise<StoredMerchant> {
  const before = await findMerchant(transaction, merchantId);
  const suspending = act === 'suspended';
  const isSuspended = before !== undefined && before.suspended_at !== null;
  if (isSuspended === suspending) throw alreadySo(suspending);
  const { now } = transaction;
  const version = (before?.version ?? 0) + 1;
  const changes = [...changesOf(before), { act, by, at: now, entry_version: version, reason }];
  return writeMerchant(transaction, { actor, request_id }, `merchant.${act}`, before, {
    ...(before ?? { ...newMerchant(merchantId, now), created_at: null }),
    suspended_at: suspending ? now : null,
    suspended_by: suspending ? by : null,
    changes: JSON.stringify(changes.slice(-CHANGES_KEPT)),
  });
}

function alreadySo(suspended: boolean): OperationalError {
  return new OperationalError(
    'invalid_status',
    suspended ? phrase('The merchant is suspended already.') : phrase('The merchant is not suspended.'),
  );
}
