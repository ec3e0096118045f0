// Invitations to register: a code that makes one merchant, once, until a day that was named.

import { type Act, newSalt } from '../journal/audit-entry.ts';
import { changeRow, lockRow, recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { isWholeSecret, newSecret, sha256Hex } from '../lib/secrets.ts';
import { DAY_MS } from '../lib/time.ts';
import { findNow, type Seen } from '../store/table.ts';
import { labelFault } from './api-keys.ts';
import { INVITE_ID_PREFIX, INVITES, type Invite, type Mode } from './merchant.ts';
import { findInviteByDigest, listInvites } from './queries.ts';

export { type Invite, listInvites };

export const INVITE_PREFIX = 'cfi_';
export const INVITE_DAYS = 7;
export const INVITE_DAYS_MAXIMUM = 90;
/** Code points of an invitation's note. */
export const INVITE_NOTE_MAXIMUM = 200;

/** Whether `text` has the form of a code: whole by its checksum. */
export function isInviteCode(text: string): boolean {
  return isWholeSecret(INVITE_PREFIX, text);
}

/** The fields of a new invitation. `code`: the code itself, 256 bits that only the caller knows. Made here if undefined. */
interface InviteWish {
  mode: Mode;
  note: string | null;
  days: number;
  code?: string;
}

/** Makes an invitation for `days` days; its code is returned this once. Throws `validation_failed` if the note or the days are invalid. */
export function createInvite(
  transaction: Transaction,
  { mode, note, days, code = newSecret(INVITE_PREFIX) }: InviteWish,
  act: Act,
): { code: string; row: Invite } {
  if (!Number.isInteger(days) || days < 1 || days > INVITE_DAYS_MAXIMUM)
    throw validationFailed({ days: `Must be a whole number from 1 to ${INVITE_DAYS_MAXIMUM}.` });
  const fault = note === null ? undefined : labelFault(note, INVITE_NOTE_MAXIMUM);
  if (fault) throw validationFailed({ note: fault });
  const { now } = transaction;
  const row: Invite = {
    id: timeOrderedId(INVITE_ID_PREFIX, now),
    digest: sha256Hex(code),
    mode,
    note: note === '' ? null : note,
    merchant_id: null,
    salt: newSalt(),
    version: 1,
    created_at: now,
    expires_at: now + days * DAY_MS,
    used_at: null,
    revoked_at: null,
  };
  transaction.insert(INVITES, row);
  recordNewRow(transaction, act, 'invite.created', INVITES, row, { mode });
  return { code, row };
}

/** The invitation of `code` if it is neither used nor revoked. Using it checks whether it is expired. */
export async function findUsableInvite(database: Seen, code: string): Promise<Invite | undefined> {
  if (!isInviteCode(code)) return undefined;
  const found = await findNow(database, (state) => findInviteByDigest(state, sha256Hex(code)));
  return found?.used_at === null && found.revoked_at === null ? found : undefined;
}

/** Uses up the invitation of `code` for a merchant; undefined where it is unknown, over, used or revoked. */
export async function useInvite(
  transaction: Transaction,
  code: string,
  merchantId: string,
  act: Act,
): Promise<Invite | undefined> {
  const { now } = transaction;
  const found = await findUsableInvite(transaction, code);
  const held = found && (await lockRow(transaction, INVITES, found.id));
  if (!held || inviteState(held, now) !== 'open') return undefined;
  const facts = { merchant: merchantId };
  const written = { used_at: now, merchant_id: merchantId };
  return changeRow(transaction, act, 'invite.used', INVITES, held, written, facts);
}

/**
 * Revokes an invitation for good. Throws `not_found` if there is none with this id, `invalid_status` if it was used, revoked or is
 * expired.
 */
export async function revokeInvite(transaction: Transaction, id: string, act: Act): Promise<Invite> {
  const found = await lockRow(transaction, INVITES, id);
  const { now } = transaction;
  if (!found || inviteState(found, now) !== 'open') throw notRevoked(found, now);
  const written = { revoked_at: now };
  return (await changeRow(transaction, act, 'invite.revoked', INVITES, found, written))!;
}

/** Whether an invitation can be used at `now` (milliseconds since 1970), and otherwise why not. */
export function inviteState(
  { used_at, revoked_at, expires_at }: Invite,
  now: number,
): 'open' | 'used' | 'revoked' | 'expired' {
  if (used_at !== null) return 'used';
  if (revoked_at !== null) return 'revoked';
  return expires_at <= now ? 'expired' : 'open';
}

function notRevoked(invite: Invite | undefined, now: number): OperationalError {
  if (!invite) return new OperationalError('not_found', 'There is no such invitation.');
  const state = inviteState(invite, now);
  const whose = state === 'used' ? `, by ${invite.merchant_id}` : '';
  const why = state === 'expired' ? 'is over' : `was ${state} already${whose}`;
  return new OperationalError('invalid_status', `The invitation ${why}.`);
}
