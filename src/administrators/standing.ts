// Whether who acts may still do so, asked in the transaction of the act: a request may have waited since it came.

import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { phrase, spoken } from '../lib/phrases.ts';
import type { Permission } from '../web/endpoint.ts';
import { lesserRole, may, type Principal } from './administrator.ts';
import { findAdministrator, findSession, findToken } from './queries.ts';

/**
 * Throws `unauthorized` where the session or token that `principal` came with has ended meanwhile, or they are disabled;
 * `forbidden` where their role does not allow `permission` any more.
 */
export async function requireStanding(
  transaction: Transaction,
  principal: Principal,
  permission: Permission,
): Promise<void> {
  const { now } = transaction;
  const owner = await findAdministrator(transaction, principal.id);
  const session = principal.session === null ? null : await findSession(transaction, principal.session);
  const token = principal.token === null ? null : await findToken(transaction, principal.token);
  const isOver =
    !owner ||
    owner.disabled_at !== null ||
    session === undefined ||
    (session && (session.ended_at !== null || session.expires_at <= now)) ||
    token === undefined ||
    (token && (token.revoked_at !== null || token.expires_at <= now));
  if (isOver) throw new OperationalError('unauthorized', phrase('Your access has ended. Nothing was done.'));
  const role = token ? lesserRole(token.role, owner.role) : owner.role;
  if (!may(role, permission))
    throw new OperationalError(
      'forbidden',
      spoken((say) => say`The role ${say.of(role)} does not allow this. Nothing was done.`),
    );
}
