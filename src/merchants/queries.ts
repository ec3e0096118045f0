// The SQL about merchants' states.
import type { Queryable } from '../database/database.ts';
import type { Transaction } from '../journal/transaction.ts';
import { MERCHANT_STATE_COLUMNS, type MerchantState } from './state.ts';

const COLUMNS = MERCHANT_STATE_COLUMNS.join(', ');
type Reader = Pick<Queryable, 'query'>;

export async function findMerchantState(database: Reader, id: string): Promise<MerchantState | undefined> {
  const rows = await database.query<MerchantState>(
    `select ${COLUMNS} from merchant_states where merchant_id = ?`,
    id,
  );
  return rows[0];
}

/** The ids of all merchants that are suspended. */
export async function suspendedMerchants(database: Reader): Promise<string[]> {
  const rows = await database.query<{ merchant_id: string }>(
    'select merchant_id from merchant_states where suspended_at is not null order by merchant_id',
  );
  return rows.map(({ merchant_id }) => merchant_id);
}

/** Writes a state over the one of the version before. The condition is the guard: of two changes at once one finds the row. */
export async function replaceMerchantState(
  transaction: Transaction,
  state: MerchantState,
): Promise<MerchantState | undefined> {
  const { merchant_id, suspended_at, suspended_by, reason, version, updated_at } = state;
  const rows = await transaction.change<MerchantState>(
    `update merchant_states set suspended_at = ?, suspended_by = ?, reason = ?, version = ?, updated_at = ?
     where merchant_id = ? and version = ? returning ${COLUMNS}`,
    suspended_at,
    suspended_by,
    reason,
    version,
    updated_at,
    merchant_id,
    version - 1,
  );
  return rows[0];
}
