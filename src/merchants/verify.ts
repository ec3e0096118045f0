// What the history says of merchants, their keys and invitations, for holding their rows against it.
import { type RowCheck, rowCheck } from '../journal/rows.ts';
import {
  API_KEYS,
  KEY_ID_PREFIX,
  MERCHANT_ID_PREFIX,
  MERCHANTS,
  type StoredKey,
  type StoredMerchant,
} from './merchant.ts';
import { INVITE_ID_PREFIX, INVITES, type Invite } from './stored-invite.ts';

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
    // One of the configuration has a row from its first suspension on.
    creates: ['merchant.registered', 'merchant.imported', 'merchant.suspended'],
    states: {
      first: 'active', // one that was taken over from the configuration alone never changed its state
      after: STATE_AFTER,
      of: ({ suspended_at }) => (suspended_at === null ? 'active' : 'suspended'),
    },
  }),
  rowCheck<StoredKey>({
    table: API_KEYS,
    noun: 'API key',
    prefix: KEY_ID_PREFIX,
    creates: ['key.issued', 'key.imported'],
    states: {
      first: 'not revoked',
      after: KEY_STATE_AFTER,
      of: ({ revoked_at }) => (revoked_at === null ? 'not revoked' : 'revoked'),
    },
  }),
  rowCheck<Invite>({
    table: INVITES,
    noun: 'invitation',
    prefix: INVITE_ID_PREFIX,
    creates: ['invite.created'],
  }),
];
