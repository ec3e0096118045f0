// What the history says of merchants' states, for holding their rows against it.
import { compareRows, type RowCheck, versionFault } from '../journal/rows.ts';
import { MERCHANT_ID_PREFIX, MERCHANT_STATE_COLUMNS, type MerchantState } from './state.ts';

const STATE_AFTER = new Map([
  ['merchant.suspended', 'suspended'],
  ['merchant.resumed', 'active'],
]);

export const verifyMerchantStates: RowCheck = async (view, tick) => ({
  merchant_states: await compareRows<MerchantState>(
    view,
    {
      table: 'merchant_states',
      key: 'merchant_id',
      noun: 'merchant state',
      prefix: MERCHANT_ID_PREFIX,
      columns: MERCHANT_STATE_COLUMNS,
      stateAfter: STATE_AFTER,
      fault(state, told) {
        const is = state.suspended_at === null ? 'active' : 'suspended';
        if (is !== told.state) return `is ${is}, its entries make it ${told.state ?? 'nothing'}`;
        return versionFault(state, told);
      },
    },
    tick,
  ),
});
