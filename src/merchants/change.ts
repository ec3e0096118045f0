// Changes of merchants, each with an entry, done again where another node wrote the same row for the first time.

import { type Act, newSalt } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { changeRow, lockRow, recordRow } from '../journal/record-row.ts';
import type { Transaction, Work } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { DatabaseError } from '../store/database.ts';
import { MERCHANTS, type StoredMerchant } from './merchant.ts';

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
