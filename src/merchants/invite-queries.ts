// The SQL about invitations to register.

import type { Reader } from '../store/database.ts';
import { heldRows } from '../store/table.ts';
import { INVITES, type Invite } from './stored-invite.ts';

const INVITE = INVITES.columnList;

export async function findInviteByDigest(database: Reader, digest: string): Promise<Invite | undefined> {
  const rows = await database.query<Invite>(
    `select ${INVITE} from invites where id = (select id from invites where digest = ?)`,
    digest,
  );
  return heldRows(rows, { digest })[0];
}

/** Invitations, newest first: all, or the `limit` newest. */
export function listInvites(database: Reader, limit?: number): Promise<Invite[]> {
  const invites = `select ${INVITE} from invites order by id desc`;
  return limit === undefined
    ? database.query<Invite>(invites)
    : database.query<Invite>(`${invites} limit ? + 0`, limit);
}
