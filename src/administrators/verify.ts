// What the history says of administrators, their passkeys, sessions and tokens, for holding their rows against it.
import { type RowCheck, rowCheck } from '../journal/rows.ts';
import { ADMINISTRATORS, PASSKEYS, SESSIONS, TOKENS } from './administrator.ts';

/** The checks of this folder's tables, for `verifyHistory`. */
export const verifyAdministrators: readonly RowCheck[] = [
  rowCheck({
    table: ADMINISTRATORS,
    prefix: 'adm_',
    noun: 'administrator',
    creates: ['administrator.created'],
  }),
  rowCheck({
    table: PASSKEYS,
    prefix: 'psk_',
    noun: 'passkey',
    creates: ['passkey.added'],
    mayBeGone: ({ last }) => last.row === null, // a removed one's last entry says that there is no row
  }),
  rowCheck({ table: SESSIONS, prefix: 'ses_', noun: 'session', creates: ['session.started'] }),
  rowCheck({ table: TOKENS, prefix: 'tok_', noun: 'token', creates: ['token.created'] }),
];
