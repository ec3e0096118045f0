// What the history says of administrators, their passkeys, sessions and tokens, for holding their rows against it.
import { type RowCheck, rowCheck } from '../journal/rows.ts';
import { ADMINISTRATOR_COLUMNS } from './administrator.ts';
import { PASSKEY_COLUMNS, SESSION_COLUMNS, TOKEN_COLUMNS } from './rows.ts';

/** The checks of this folder's tables, for `verifyHistory`. */
export const verifyAdministrators: readonly RowCheck[] = [
  rowCheck({
    table: 'administrators',
    prefix: 'adm_',
    noun: 'administrator',
    columns: ADMINISTRATOR_COLUMNS,
  }),
  rowCheck({
    table: 'passkeys',
    prefix: 'psk_',
    noun: 'passkey',
    columns: PASSKEY_COLUMNS,
    mayBeGone: ({ last }) => last.row === null, // a removed one's last entry says that there is no row
  }),
  rowCheck({ table: 'sessions', prefix: 'ses_', noun: 'session', columns: SESSION_COLUMNS }),
  rowCheck({ table: 'administrator_tokens', prefix: 'tok_', noun: 'token', columns: TOKEN_COLUMNS }),
];
