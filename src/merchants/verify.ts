// What the history says of merchants, their keys and invitations, for holding their rows against it.
import { compareRows, type RowCheck, versionFault } from '../journal/rows.ts';
import { INVITE_COLUMNS, INVITE_ID_PREFIX, type Invite } from './stored-invite.ts';
import { KEY_COLUMNS, KEY_ID_PREFIX, type StoredKey } from './stored-key.ts';
import { MERCHANT_COLUMNS, MERCHANT_ID_PREFIX, type StoredMerchant } from './stored-merchant.ts';

const STATE_AFTER = new Map([
  ['merchant.registered', 'active'],
  ['merchant.suspended', 'suspended'],
  ['merchant.resumed', 'active'],
]);

const KEY_STATE_AFTER = new Map([['key.revoked', 'revoked']]);

export const verifyMerchants: readonly RowCheck[] = [
  async (view, tick) => ({
    merchants: await compareRows<StoredMerchant>(
      view,
      {
        table: 'merchants',
        key: 'id',
        noun: 'merchant',
        prefix: MERCHANT_ID_PREFIX,
        columns: MERCHANT_COLUMNS,
        stateAfter: STATE_AFTER,
        fault(merchant, told) {
          const is = merchant.suspended_at === null ? 'active' : 'suspended';
          // One that was taken over from the configuration alone never changed its state.
          if (is !== (told.state ?? 'active'))
            return `is ${is}, its entries make it ${told.state ?? 'active'}`;
          return versionFault(merchant, told);
        },
      },
      tick,
    ),
  }),
  async (view, tick) => ({
    api_keys: await compareRows<StoredKey>(
      view,
      {
        table: 'api_keys',
        key: 'id',
        noun: 'API key',
        prefix: KEY_ID_PREFIX,
        columns: KEY_COLUMNS,
        stateAfter: KEY_STATE_AFTER,
        fault(key, told) {
          const state = key.revoked_at === null ? undefined : 'revoked';
          if (state !== told.state)
            return `is ${state ?? 'not revoked'}, its entries make it ${told.state ?? 'not revoked'}`;
          return versionFault(key, told);
        },
      },
      tick,
    ),
  }),
  async (view, tick) => ({
    invites: await compareRows<Invite>(
      view,
      {
        table: 'invites',
        key: 'id',
        noun: 'invitation',
        prefix: INVITE_ID_PREFIX,
        columns: INVITE_COLUMNS,
        fault: versionFault,
      },
      tick,
    ),
  }),
];
