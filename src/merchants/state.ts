// Whether a merchant is suspended, and what was written at each change of that.

/** One change: who made it, why, and the entry of the history it is told in. */
export interface StateChange {
  act: 'suspended' | 'resumed';
  /** `adm_…`. */
  by: string;
  /** Milliseconds since 1970. */
  at: number;
  /** The row's version after it, which is the number of the merchant's entries. */
  entry_version: number;
  reason: string;
}

/** A row of `merchant_states`; a merchant that was never suspended has none. Times in milliseconds since 1970. */
export interface MerchantState {
  merchant_id: string;
  /** Nothing while the merchant is not suspended. */
  suspended_at: number | null;
  /** `adm_…`, while suspended. */
  suspended_by: string | null;
  /** The last hundred changes as JSON text (`StateChange[]`), oldest first. */
  reason: string;
  /** Random: keeps the digests in the history from telling what an erased row held. */
  salt: string;
  /** How many entries the history has about this merchant. */
  version: number;
  updated_at: number;
}

/** The columns that a state's digest in the history covers: all, in this order. Append only. */
export const MERCHANT_STATE_COLUMNS = [
  'merchant_id',
  'suspended_at',
  'suspended_by',
  'reason',
  'salt',
  'version',
  'updated_at',
] as const satisfies (keyof MerchantState)[];

/** What a merchant's id, and so the subject of an entry about a merchant, begins with. */
export const MERCHANT_ID_PREFIX = 'mer_';

/** What was written at each change, oldest first; nothing for a merchant without a row. */
export function changesOf(state: MerchantState | undefined): StateChange[] {
  return state ? (JSON.parse(state.reason) as StateChange[]) : [];
}
