// The SQL about administrators, also as reviewers, their passkeys and sessions. E-mail addresses come in lower case.
import { lockRow, updateRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import type { Reader } from '../store/database.ts';
import { heldRow, heldRows, marks, rowWithId } from '../store/table.ts';
import {
  ADMINISTRATORS,
  type Administrator,
  PASSKEYS,
  type Passkey,
  type Role,
  SESSIONS,
  type Session,
  TOKENS,
  type Token,
} from './administrator.ts';

const ADMINISTRATOR = ADMINISTRATORS.columnList;
const PASSKEY = PASSKEYS.columnList;
const SESSION = SESSIONS.columnList;

export async function findAdministrator(database: Reader, id: string): Promise<Administrator | undefined> {
  const sql = `select ${ADMINISTRATOR} from administrators where id = ?`;
  return heldRows(await database.query<Administrator>(sql, id), { id })[0];
}

export const findAdministratorByEmail = (database: Reader, email: string) =>
  heldRow(database, ADMINISTRATORS, { email });

/** The administrator whose set-up link has this digest, while it may be used. */
export async function findAdministratorBySetUp(
  database: Reader,
  digest: string,
  now: number,
): Promise<Administrator | undefined> {
  const rows = await database.query<Administrator>(
    `select ${ADMINISTRATOR} from administrators
     where id = (select id from administrators where setup_digest = ?) and setup_expires_at > ? and disabled_at is null`,
    digest,
    now,
  );
  return heldRows(rows, { setup_digest: digest })[0];
}

/** All administrators, disabled ones too, in the order they were added. */
export function listAdministrators(database: Reader): Promise<Administrator[]> {
  return database.query<Administrator>(`select ${ADMINISTRATOR} from administrators order by id`);
}

/** What a change of an administrator writes. */
export type AdministratorChange = Partial<
  Omit<Administrator, 'id' | 'salt' | 'version' | 'created_at' | 'updated_at'>
>;

/**
 * Changes an administrator and counts the change. Where `version` is given, only if nothing has changed since: of two who act
 * on the same state, one finds nothing to change. That is what makes tickets, codes and links work once.
 */
export async function changeAdministrator(
  transaction: Transaction,
  id: string,
  version: number | undefined,
  change: AdministratorChange,
): Promise<{ before: Administrator; after: Administrator } | undefined> {
  const before = await lockRow(transaction, ADMINISTRATORS, id);
  if (!before || before.version !== (version ?? before.version)) return undefined;
  return updateRow(transaction, ADMINISTRATORS, before, { ...change, updated_at: transaction.now });
}

/** Locks and gives those with the role `administrator`, so that two nodes cannot each take away what the other counts on. */
export function lockFullAdministrators(transaction: Transaction): Promise<Administrator[]> {
  return transaction.query<Administrator>(
    `update administrators set updated_at = updated_at where role = 'administrator' returning ${ADMINISTRATOR}`,
  );
}

export async function passkeysOf(database: Reader, administratorId: string): Promise<Passkey[]> {
  const sql = `select ${PASSKEY} from passkeys where id in (select id from passkeys where administrator_id = ?) order by id`;
  return heldRows(await database.query<Passkey>(sql, administratorId), { administrator_id: administratorId });
}

export async function isKnownCredential(database: Reader, credentialId: string): Promise<boolean> {
  return (await database.query('select id from passkeys where credential_id = ?', credentialId)).length > 0;
}

/** The number of passkeys of each administrator who has any. */
export function countPasskeys(database: Reader): Promise<{ administrator_id: string; count: number }[]> {
  return database.query('select administrator_id, count(*) as count from passkeys group by administrator_id');
}

/** Deletes one passkey of an administrator, or all. */
export function deletePasskeys(
  transaction: Transaction,
  administratorId: string,
  id?: string,
): Promise<Passkey[]> {
  return transaction.change<Passkey>(
    `delete from passkeys where administrator_id = ? ${id === undefined ? '' : 'and id = ?'} returning ${PASSKEY}`,
    administratorId,
    ...(id === undefined ? [] : [id]),
  );
}

export const findSession = (database: Reader, id: string) => rowWithId(database, SESSIONS, id);

/** When the session of an administrator began that came before the one with the id `id`. */
export async function sessionBefore(
  database: Reader,
  administratorId: string,
  id: string,
): Promise<number | undefined> {
  const rows = await database.query<{ created_at: number }>(
    'select created_at from sessions where administrator_id = ? and id < ? order by id desc limit 1',
    administratorId,
    id,
  );
  return rows[0]?.created_at;
}

/** The active sessions of an administrator, newest first. */
export function openSessionsOf(database: Reader, administratorId: string, now: number): Promise<Session[]> {
  return database.query<Session>(
    `select ${SESSION} from sessions where administrator_id = ? and ended_at is null and expires_at > ? order by id desc`,
    administratorId,
    now,
  );
}

/** Sessions of an administrator that have not ended: the only one named, or all except one. */
export function sessionsToEnd(
  transaction: Transaction,
  administratorId: string,
  which: { only: string } | { except: string },
): Promise<Session[]> {
  return transaction.query<Session>(
    `select ${SESSION} from sessions
     where administrator_id = ? and ended_at is null and id ${'only' in which ? '=' : '<>'} ? order by id`,
    administratorId,
    'only' in which ? which.only : which.except,
  );
}

/** The session with this digest, whose ever it is. */
export const findSessionByDigest = (database: Reader, digest: string) =>
  heldRow(database, SESSIONS, { digest });

/** The newest entries with this subject and action, newest first. */
export function newestEntries(
  database: Reader,
  subject: string,
  action: string,
  limit: number,
): Promise<{ at: number; facts: string }[]> {
  return database.query(
    'select at, facts from audit_entries where subject = ? and action = ? order by number desc limit ? + 0',
    subject,
    action,
    limit,
  );
}

/** Administrators' names by their ids (`adm_…`); those that are not there are left out. */
export async function namesOf(
  database: Reader,
  administrators: readonly string[],
): Promise<Map<string, string>> {
  const ids = [...new Set(administrators)];
  if (ids.length === 0) return new Map();
  const rows = await database.query<{ id: string; name: string }>(
    `select id, name from administrators where id in (${marks(ids)})`,
    ...ids,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Those of `administrators` (`adm_…`) who may not decide any more: they are disabled, or auditors by now. */
export async function barredAmong(database: Reader, administrators: readonly string[]): Promise<Set<string>> {
  if (administrators.length === 0) return new Set();
  const rows = await database.query<{ id: string }>(
    `select id from administrators where id in (${marks(administrators)})
     and (disabled_at is not null or role = 'auditor')`,
    ...administrators,
  );
  return new Set(rows.map(({ id }) => id));
}

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
