// Tokens for /admin: a program acts as an administrator, with a role that is at most theirs, until a day that was named.

import { type Act, newSalt } from '../journal/audit-entry.ts';
import { changeRow, lockRow, readRecorded, recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { isWholeSecret, newSecret, sha256 } from '../lib/secrets.ts';
import { textFault } from '../lib/text.ts';
import { DAY_MS, formatTimestamp } from '../lib/time.ts';
import type { Reader } from '../store/database.ts';
import { findNow, type Seen } from '../store/table.ts';
import {
  ADMINISTRATORS,
  lesserRole,
  type Principal,
  principalOf,
  type Role,
  TOKENS,
  type Token,
} from './administrator.ts';

import { findAdministrator, findOwnedToken, listOwnedTokens, type OwnedToken } from './queries.ts';

export type { OwnedToken, Token };

const TOKEN_PREFIX = 'cfa_';
export const TOKEN_DAYS = 90;
export const TOKEN_DAYS_MAXIMUM = 400;
const NAME_MAXIMUM = 80;

/**
 * Makes a token for `days` days; it is returned this once. Throws `not_found` if there is no such administrator, `conflict` if they are
 * disabled, `validation_failed` if the role is above theirs, or the name or the days are invalid.
 */
export async function createToken(
  transaction: Transaction,
  wanted: { administratorId: string; role: Role; name: string; days: number },
  act: Act,
): Promise<{ token: string; row: Token }> {
  const { administratorId, role, name, days } = wanted;
  const owner = await findAdministrator(transaction, administratorId);
  if (!owner) throw new OperationalError('not_found', 'There is no such administrator.');
  if (owner.disabled_at !== null)
    throw new OperationalError('conflict', 'This administrator is disabled. Enable them first.');
  if (lesserRole(role, owner.role) !== role)
    throw validationFailed({ role: `Must be at most the administrator's own: ${owner.role}.` });
  const fault = name.trim() === '' ? 'Must not be empty.' : textFault(name, NAME_MAXIMUM);
  if (fault) throw validationFailed({ name: fault });
  if (!Number.isInteger(days) || days < 1 || days > TOKEN_DAYS_MAXIMUM)
    throw validationFailed({ days: `Must be a whole number from 1 to ${TOKEN_DAYS_MAXIMUM}.` });
  const token = newSecret(TOKEN_PREFIX);
  const row: Token = {
    id: timeOrderedId('tok_', transaction.now),
    digest: sha256(token),
    administrator_id: administratorId,
    role,
    name,
    salt: newSalt(),
    version: 1,
    created_at: transaction.now,
    expires_at: transaction.now + days * DAY_MS,
    revoked_at: null,
  };
  transaction.insert(TOKENS, row);
  recordNewRow(transaction, act, 'token.created', TOKENS, row, {
    administrator: administratorId,
    role,
  });
  return { token, row };
}

/**
 * Returns as `principal` who calls with `token`: its administrator, in the lesser of its role and theirs. Returns as `refused` whose
 * token it is (ids) if the token is expired or revoked, or its administrator disabled. Throws `DatabaseError`.
 */
export async function findTokenPrincipal(
  database: Seen,
  token: string,
  now: number,
): Promise<{ principal?: Principal; refused?: { administrator: string; token: string } }> {
  if (!isWholeSecret(TOKEN_PREFIX, token)) return {};
  const digest = sha256(token);
  let found: OwnedToken | undefined;
  const good = await findNow(database, async (state) => {
    found = await findOwnedToken(state, digest);
    return found && isGood(found, now) && (await isOwnedAsRecorded(state, found)) ? found : undefined;
  });
  if (!good) return found ? { refused: { administrator: found.administrator_id, token: found.id } } : {};
  const { administrator_id: id, owner_name: name, email } = good;
  const role = lesserRole(good.role, good.owner_role);
  return { principal: principalOf({ id, name, email, role }, { token: good.id }) };
}

/** Whether a token and its owner are as the history left them. */
async function isOwnedAsRecorded(database: Reader, { digest, owner_role }: OwnedToken): Promise<boolean> {
  const token = await readRecorded(database, TOKENS, () => findOwnedToken(database, digest));
  const read = () => findAdministrator(database, token!.administrator_id);
  const owner = token && (await readRecorded(database, ADMINISTRATORS, read));
  return owner?.role === owner_role;
}

function isGood({ revoked_at, expires_at, owner_disabled_at }: OwnedToken, now: number): boolean {
  return revoked_at === null && expires_at > now && owner_disabled_at === null;
}

/** Revokes a token for good. Throws `not_found` if there is none with this id, `invalid_status` if it is revoked already. */
export async function revokeToken(transaction: Transaction, id: string, act: Act): Promise<Token> {
  const found = await lockRow(transaction, TOKENS, id);
  if (!found) throw new OperationalError('not_found', 'There is no such token.');
  if (found.revoked_at !== null) {
    const at = formatTimestamp(found.revoked_at);
    throw new OperationalError('invalid_status', `The token ${id} was revoked already, on ${at}.`);
  }
  const written = { revoked_at: transaction.now };
  return (await changeRow(transaction, act, 'token.revoked', TOKENS, found, written))!;
}

/** All tokens with their owners, expired ones too. Throws `DatabaseError`. */
export function listTokens(database: Reader): Promise<OwnedToken[]> {
  return listOwnedTokens(database);
}
