// A merchant as the store keeps it: who registered or was taken over from the configuration, and whether it is suspended.
import { integer, integerOrNull, type RowOf, table, text, textOrNull } from '../store/table.ts';
import type { Merchant, MerchantLimits, Profile } from './merchant.ts';
import type { Particulars } from './particulars.ts';

/** One change of a merchant's state: its actor, its reason, and the number of its audit entry. */
export interface StateChange {
  act: 'suspended' | 'resumed';
  /** `adm_…`, or `operator`. */
  by: string;
  /** Milliseconds since 1970. */
  at: number;
  /** The row's version after it, which is the number of the merchant's entries. */
  entry_version: number;
  reason: string;
}

/** A row of `merchants`. Times in milliseconds since 1970. */
export const MERCHANTS = table('merchants', {
  /** `mer_…`. */
  id: text(),
  /** Nothing while the merchant is not suspended. */
  suspended_at: integerOrNull(),
  /** `adm_…` or `operator`, while suspended. */
  suspended_by: textOrNull(),
  /** The last hundred changes of its state as JSON text (`StateChange[]`), oldest first. */
  changes: textOrNull(),
  /** Random: keeps the digests in the history from telling what an erased row held. */
  salt: text(),
  /** How many entries the history has about this merchant. */
  version: integer(),
  updated_at: integer(),
  /** The business name; undefined where the merchant stands in the configuration alone, and the row is for its state. */
  name: textOrNull(),
  /** Whom the operator writes to; never shown to customers. */
  email: textOrNull(),
  website: textOrNull(),
  support: textOrNull(),
  /** The ids of the ways to pay its customers are offered, as a JSON array; undefined where it is all of them. */
  methods: textOrNull(),
  /** `MerchantLimits` as JSON text; undefined where it has those of all. */
  limits: textOrNull(),
  created_at: integerOrNull(),
  /** `Particulars` as JSON text; null if there are none. */
  particulars: textOrNull(),
});
export type StoredMerchant = RowOf<typeof MERCHANTS>;

/** What a merchant's id, and so the subject of an entry about a merchant, begins with. */
export const MERCHANT_ID_PREFIX = 'mer_';

/** Everything known of a merchant but its keys. */
export interface MerchantProfile extends Merchant, Profile {
  /** The ids of the ways to pay its customers are offered; undefined where it is all of them. */
  methods: readonly string[] | null;
  /** What it may do more or less of than others. */
  limits: MerchantLimits;
}

/** What was written at each change of its state, oldest first; nothing for a merchant without a row. */
export function changesOf(stored: StoredMerchant | undefined): StateChange[] {
  return stored?.changes ? (JSON.parse(stored.changes) as StateChange[]) : [];
}

/** A merchant of the store; nothing for one whose row is for its state alone. */
export function profileOf(stored: StoredMerchant): MerchantProfile | undefined {
  const { id, name, email, website, support, methods, limits, particulars } = stored;
  if (name === null) return undefined;
  return {
    id,
    name,
    email,
    website,
    support,
    ...(particulars !== null && { particulars: JSON.parse(particulars) as Particulars }),
    methods: methods === null ? null : (JSON.parse(methods) as string[]),
    limits: limits === null ? {} : (JSON.parse(limits) as MerchantLimits),
  };
}
