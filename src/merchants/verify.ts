// What the history says of merchants, their keys and invitations, for holding their rows against it.
import { type RowCheck, rowCheck, versionFault } from '../journal/rows.ts';
import { INVITE_ID_PREFIX, INVITES, type Invite } from './stored-invite.ts';
import { API_KEYS, KEY_ID_PREFIX, type StoredKey } from './stored-key.ts';
import { MERCHANT_ID_PREFIX, MERCHANTS, type StoredMerchant } from './stored-merchant.ts';

const STATE_AFTER = new Map([
  ['merchant.registered', 'active'],
  ['merchant.suspended', 'suspended'],
  ['merchant.resumed', 'active'],
]);

const KEY_STATE_AFTER = new Map([['key.revoked', 'revoked']]);

export const verifyMerchants: readonly RowCheck[] = [
  rowCheck<StoredMerchant>({
    table: MERCHANTS,
    noun: 'merchant',
    prefix: MERCHANT_ID_PREFIX,

    stateAfter: STATE_AFTER,
    fault(merchant, told) {
      const is = merchant.suspended_at === null ? 'active' : 'suspended';
      // One that was taken over from the configuration alone never changed its state.
      if (is !== (told.state ?? 'active')) return `is ${is}, its entries make it ${told.state ?? 'active'}`;
      return versionFault(merchant, told);
    },
  }),
  rowCheck<StoredKey>({
    table: API_KEYS,
    noun: 'API key',
    prefix: KEY_ID_PREFIX,

    stateAfter: KEY_STATE_AFTER,
    fault(key, told) {
      const state = key.revoked_at === null ? undefined : 'revoked';
      if (state !== told.state)
        return `is ${state ?? 'not revoked'}, its entries make it ${told.state ?? 'not revoked'}`;
      return versionFault(key, told);
    },
  }),
  rowCheck<Invite>({
    table: INVITES,
    noun: 'invitation',
    prefix: INVITE_ID_PREFIX,
  }),
];
