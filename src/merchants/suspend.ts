// Suspends a merchant and lets it go on again: each with a reason, in an entry of the history.
import { DatabaseError, type Queryable } from '../database/database.ts';
import { newSalt, rowDigest } from '../journal/audit-entry.ts';
import type { Listener } from '../journal/follow.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction } from '../journal/transaction.ts';
import { holdsCardNumber } from '../lib/card-number.ts';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { textFault } from '../lib/text.ts';
import type { Directory } from './merchant.ts';
import { findMerchantState, replaceMerchantState, suspendedMerchants } from './queries.ts';
import {
  changesOf,
  MERCHANT_ID_PREFIX,
  MERCHANT_STATE_COLUMNS,
  type MerchantState,
  type StateChange,
} from './state.ts';

/** Code points of a reason. */
export const REASON_MAXIMUM = 500;
/** How many changes of one merchant are kept with their reasons; the history itself keeps all. */
const CHANGES_KEPT = 100;

/** The administrator who does it, and the request it was done by. */
export interface StateAct {
  actor: string;
  /** `adm_…`. */
  by: string;
  request_id: string | null;
}

/**
 * Suspends a merchant, or lets it go on. Raises `validation_failed` for the reason, `invalid_status` where the merchant is so
 * already, and what the journal raises.
 */
export async function changeMerchantState(
  journal: Journal,
  merchantId: string,
  act: StateChange['act'],
  who: StateAct,
  reason: string,
): Promise<MerchantState> {
  const text = reason.trim();
  const fault = reasonFault(text);
  if (fault) throw validationFailed({ reason: fault });
  const attempt = () =>
    journal.commit((transaction) => change(transaction, merchantId, act, who, text), merchantId);
  try {
    return await attempt();
  } catch (error) {
    // Another node wrote the merchant's first row at the same moment: the second look finds it.
    if (error instanceof DatabaseError && error.failure === 'conflict') return attempt();
    throw error;
  }
}

function reasonFault(reason: string): string | undefined {
  if (reason === '') return 'Enter a reason.';
  if (holdsCardNumber(reason)) return 'Must not contain a card number.';
  return textFault(reason, REASON_MAXIMUM, true);
}

async function change(
  transaction: Transaction,
  merchantId: string,
  act: StateChange['act'],
  { actor, by, request_id }: StateAct,
  reason: string,
): Promise<MerchantState> {
  const before = await findMerchantState(transaction, merchantId);
  const suspending = act === 'suspended';
  const isSuspended = before !== undefined && before.suspended_at !== null;
  if (isSuspended === suspending) throw alreadySo(suspending);
  const { now } = transaction;
  const version = (before?.version ?? 0) + 1;
  const changes = [...changesOf(before), { act, by, at: now, entry_version: version, reason }];
  const state: MerchantState = {
    merchant_id: merchantId,
    suspended_at: suspending ? now : null,
    suspended_by: suspending ? by : null,
    reason: JSON.stringify(changes.slice(-CHANGES_KEPT)),
    salt: before?.salt ?? newSalt(),
    version,
    updated_at: now,
  };
  if (!before) transaction.insert('merchant_states', state);
  else if (!(await replaceMerchantState(transaction, state))) throw alreadySo(suspending);
  transaction.record({
    actor,
    action: `merchant.${act}`,
    subject: merchantId,
    request_id,
    facts: { row: rowDigest(MERCHANT_STATE_COLUMNS, state) },
  });
  return state;
}

function alreadySo(suspended: boolean): OperationalError {
  return new OperationalError(
    'invalid_status',
    suspended ? 'The merchant is suspended already.' : 'The merchant is not suspended.',
  );
}

/** Keeps a node's directory to what any node wrote about merchants: for `followJournal`. */
export function suspensionListener(database: Pick<Queryable, 'query'>, directory: Directory): Listener {
  const load = async () => directory.suspend(await suspendedMerchants(database));
  return { prefix: MERCHANT_ID_PREFIX, load, hear: load };
}
