// Changes of merchants, each with an entry: suspended and let go on, limited, and what receipts and letters say of them.

import { type Act, newSalt } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { changeRow, lockRow, recordRow } from '../journal/record-row.ts';
import type { Transaction, Work } from '../journal/transaction.ts';
import { holdsCardNumber } from '../lib/card-number.ts';
import { OperationalError } from '../lib/errors.ts';
import { phrase } from '../lib/phrases.ts';
import { textFault } from '../lib/text.ts';
import { DatabaseError } from '../store/database.ts';
import {
  changesOf,
  MERCHANTS,
  type MerchantLimits,
  type StateChange,
  type StoredMerchant,
  writtenLimits,
} from './merchant.ts';
import { type Particulars, writtenParticulars } from './particulars.ts';

/** Maximum attempts of a change. Each failed attempt lost to another change. */
const ATTEMPTS = 4;

/**
 * Commits `work` under the name of `row`. If another node wrote the first version of a row meanwhile, the work is run again, three times
 * at most: it judges what it finds then, so that a change that still makes sense is never lost to another. Throws `conflict` after that,
 * and what the work and the journal throw.
 */
export async function commitChange<T>(journal: Journal, row: string, work: Work<T>): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      return await journal.commit(work, row);
    } catch (error) {
      if (!(error instanceof DatabaseError && error.failure === 'conflict')) throw error;
    }
  }
  throw new OperationalError('conflict', 'Others changed the same at the same moment. Try again.');
}

/** A merchant's row with nothing in it yet. `now` in milliseconds since 1970. */
export function newMerchant(id: string, now: number): StoredMerchant {
  return { ...MERCHANTS.nulls, id, salt: newSalt(), version: 1, updated_at: now, created_at: now };
}

/**
 * Writes the columns that `change` gives for the row of a merchant, and records it. A merchant without a row has one of version 0.
 * Throws what `change` and `recordRow` do.
 */
export async function writeMerchant(
  transaction: Transaction,
  act: Act,
  action: string,
  id: string,
  change: (before: StoredMerchant) => Partial<StoredMerchant>,
): Promise<StoredMerchant> {
  const { now } = transaction;
  const before = await lockRow(transaction, MERCHANTS, id);
  const none = { ...newMerchant(id, now), version: 0, created_at: null };
  const written = { ...change(before ?? none), updated_at: now };
  if (before) return (await changeRow(transaction, act, action, MERCHANTS, before, written))!;
  const after = { ...none, ...written, version: 1 };
  await transaction.insertNow(MERCHANTS, after);
  await recordRow(transaction, act, action, MERCHANTS, { before, after });
  return after;
}

/** Code points of a reason. */
export const REASON_MAXIMUM = 500;
/** Maximum number of changes with reasons in a merchant's row. The history keeps all. */
const CHANGES_KEPT = 100;

interface StateAct extends Act {
  /** `adm_…`, or `operator`. */
  by: string;
}

/**
 * Suspends a merchant, or lets it go on. `reason` is one in which `reasonFault` finds no fault. Throws `invalid_status` where the
 * merchant is so already, `conflict` where others change it all the time, and what the journal throws.
 */
export async function changeMerchantState(
  journal: Journal,
  merchantId: string,
  act: StateChange['act'],
  who: StateAct,
  reason: string,
): Promise<StoredMerchant> {
  const suspending = act === 'suspended';
  const { actor, by, request_id } = who;
  return commitChange(journal, merchantId, (transaction) =>
    writeMerchant(transaction, { actor, request_id }, `merchant.${act}`, merchantId, (before) => {
      if ((before.suspended_at !== null) === suspending) throw alreadySo(suspending);
      const at = transaction.now;
      const changes = [...changesOf(before), { act, by, at, entry_version: before.version + 1, reason }];
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
  return changeStored(journal, merchantId, 'merchant.described', act, (before) => ({
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
  changeStored(journal, merchantId, 'merchant.limited', act, () => ({ limits: writtenLimits(limits) }));

function changeStored(
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
