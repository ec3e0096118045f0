// The SQL about administrators' tokens.

import type { Reader } from '../store/database.ts';
import { heldRows } from '../store/look-up.ts';
import { rowWithId } from '../store/table.ts';
import type { Role } from './administrator.ts';
import { TOKENS, type Token } from './rows.ts';

export interface OwnedToken extends Token {
  /** As the administrator's row has it. */
  owner_id: string;
  email: string;
  owner_name: string;
  owner_role: Role;
  owner_disabled_at: number | null;
}

const OWNED_TOKEN = `select ${TOKENS.columns.map((column) => `administrator_tokens.${column} as ${column}`).join(', ')},
  administrators.id as owner_id, email, administrators.name as owner_name, administrators.role as owner_role,
  administrators.disabled_at as owner_disabled_at
  from administrator_tokens join administrators on administrators.id = administrator_tokens.administrator_id`;

/** The token with this digest and whose it is, whether they may be used or not. */
export async function findOwnedToken(database: Reader, digest: string): Promise<OwnedToken | undefined> {
  const rows = await database.query<OwnedToken>(
    `${OWNED_TOKEN} where administrator_tokens.id = (select id from administrator_tokens where digest = ?)`,
    digest,
  );
  return heldRows(rows, { digest }).find((token) => token.owner_id === token.administrator_id);
}

export const findToken = (database: Reader, id: string) => rowWithId(database, TOKENS, id);

export function listOwnedTokens(database: Reader): Promise<OwnedToken[]> {
  return database.query<OwnedToken>(`${OWNED_TOKEN} order by administrator_tokens.id`);
}
