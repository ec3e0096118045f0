// What the history says of administrators, their passkeys, sessions and tokens, for holding their rows against it.
import { compareRows, type RowCheck, type RowTable, versionFault } from '../journal/rows.ts';
import { ADMINISTRATOR_COLUMNS } from './administrator.ts';
import { PASSKEY_COLUMNS, SESSION_COLUMNS, TOKEN_COLUMNS } from './rows.ts';

interface Counted {
  id: string;
  version: number;
}

/** The check of a table whose rows count their entries. */
function check(
  table: string,
  prefix: string,
  noun: string,
  columns: readonly string[],
  rest: Partial<RowTable<Counted>> = {},
): RowCheck {
  return async (view, tick) => ({
    [table]: await compareRows<Counted>(
      view,
      { table, key: 'id', noun, prefix, columns, fault: versionFault, ...rest },
      tick,
    ),
  });
}

/** The checks of this folder's tables, for `verifyHistory`. */
export const verifyAdministrators: readonly RowCheck[] = [
  check('administrators', 'adm_', 'administrator', ADMINISTRATOR_COLUMNS),
  // A removed one's last entry says that there is no row.
  check('passkeys', 'psk_', 'passkey', PASSKEY_COLUMNS, { mayBeGone: ({ last }) => last.row === null }),
  check('sessions', 'ses_', 'session', SESSION_COLUMNS),
  check('administrator_tokens', 'tok_', 'token', TOKEN_COLUMNS),
];
