// The SQL about invitations to register.

import type { Transaction } from '../journal/transaction.ts';
import type { Reader } from '../store/database.ts';
import { heldRows } from '../store/look-up.ts';
import { rowWithId } from '../store/table.ts';
import { INVITES, type Invite } from './stored-invite.ts';

const INVITE = INVITES.columnList;

export async function findInviteByDigest(database: Reader, digest: string): Promise<Invite | undefined> {
  const rows = await database.query<Invite>(
    `select ${INVITE} from invites where id = (select id from invites where digest = ?)`,
    digest,
  );
  return heldRows(rows, { digest })[0];
}

export const findInvite = (database: Reader, id: string) => rowWithId(database, INVITES, id);

/** Invitations, newest first: all, or the `limit` newest. */
export function listInvites(database: Reader, limit?: number): Promise<Invite[]> {
  const invites = `select ${INVITE} from invites order by id desc`;
  return limit === undefined
    ? database.query<Invite>(invites)
    : database.query<Invite>(`${invites} limit ? + 0`, limit);
}

/** Uses an invitation for a merchant. Undefined if it is expired, used or revoked. */
export async function takeInvite(
  transaction: Transaction,
  id: string,
  merchantId: string,
): Promise<Invite | undefined> {
  const { now } = transaction;
  const rows = await transaction.change<Invite>(
    `update invites set used_at = ?, merchant_id = ?, version = version + 1
     where id = ? and used_at is null and revoked_at is null and expires_at > ? returning ${INVITE}`,
    now,
    merchantId,
    id,
    now,
  );
  return rows[0];
}

/** Revokes an invitation. Undefined if there is none that could still be used. */
export async function endInvite(transaction: Transaction, id: string): Promise<Invite | undefined> {
  const { now } = transaction;
  const rows = await transaction.change<Invite>(
    `update invites set revoked_at = ?, version = version + 1
     where id = ? and used_at is null and revoked_at is null and expires_at > ? returning ${INVITE}`,
    now,
    id,
    now,
  );
  return rows[0];
}
