// The SQL about merchants of the store, their keys and invitations.
import type { Transaction } from '../journal/transaction.ts';
import type { Reader } from '../store/database.ts';
import { heldRow, marks, NO_LIMIT, rowsWithIds, rowWithId } from '../store/table.ts';
import {
  API_KEYS,
  INVITES,
  type Invite,
  MERCHANTS,
  type Mode,
  type StoredKey,
  type StoredMerchant,
} from './merchant.ts';

const MERCHANT = MERCHANTS.columnList;
const KEY = API_KEYS.columnList;
const INVITE = INVITES.columnList;

export const findMerchant = (database: Reader, id: string) => rowWithId(database, MERCHANTS, id);

/** Merchants by their ids, as many as there are. */
export const findMerchants = (database: Reader, ids: readonly string[]) =>
  rowsWithIds(database, MERCHANTS, ids);

/** Merchants of the store behind `after`, by their ids. */
export function merchantsAfter(database: Reader, after: string, limit: number): Promise<StoredMerchant[]> {
  return database.query<StoredMerchant>(
    `select ${MERCHANT} from merchants where id > ? order by id limit ? + 0`,
    after,
    limit,
  );
}

export const findKey = (database: Reader, id: string) => rowWithId(database, API_KEYS, id);

export const findKeyByDigest = (database: Reader, digest: string) => heldRow(database, API_KEYS, { digest });

/** Keys of the store behind `after`, by their ids, but for those that were over by `overSince` (milliseconds since 1970). */
export function keysAfter(
  database: Reader,
  after: string,
  overSince: number,
  limit: number,
): Promise<StoredKey[]> {
  return database.query<StoredKey>(
    `select ${KEY} from api_keys
     where id > ? and (revoked_at is null or revoked_at > ?) and (expires_at is null or expires_at > ?)
     order by id limit ? + 0`,
    after,
    overSince,
    overSince,
    limit,
  );
}

/** How many keys of a merchant in a mode work at `now`, of those in the store, and how many were made after `since`. */
export async function countKeys(
  database: Reader,
  merchantId: string,
  mode: Mode,
  { now, since }: { now: number; since: number },
): Promise<{ working: number; made: number }> {
  const rows = await database.query<{ working: number; made: number }>(
    `select count(*) filter (where revoked_at is null and (expires_at is null or expires_at > ?)) as working,
       count(*) filter (where created_at > ?) as made
     from api_keys where merchant_id = ? and mode = ?`,
    now,
    since,
    merchantId,
    mode,
  );
  return rows[0]!;
}

/**
 * The active keys at `now` that were made with a key, or with one that was made with it, and so on; oldest first. They show what a leaked
 * key leaves behind.
 */
export function keysMadeBy(
  database: Reader,
  { id, merchant_id }: Pick<StoredKey, 'id' | 'merchant_id'>,
  now: number,
): Promise<StoredKey[]> {
  return database.query<StoredKey>(
    `with recursive made (id) as (
       select id from api_keys where merchant_id = ? and made_by = ?
       union
       select api_keys.id from api_keys join made on api_keys.made_by = made.id where api_keys.merchant_id = ?
     )
     select ${KEY} from api_keys
     where id in (select id from made) and revoked_at is null and (expires_at is null or expires_at > ?)
     order by created_at, id`,
    merchant_id,
    id,
    merchant_id,
    now,
  );
}

/** When keys were last used, in milliseconds since 1970; nothing of those that never were. */
export function keyUsesOf(
  database: Reader,
  keyIds: readonly string[],
): Promise<{ key_id: string; used_at: number }[]> {
  return database.query<{ key_id: string; used_at: number }>(
    `select key_id, used_at from api_key_uses where key_id in (${marks(keyIds)})`,
    ...keyIds,
  );
}

/** Writes when keys were used, but for those that are known to have been used later. One statement, however many there are. */
export async function noteKeyUses(
  transaction: Transaction,
  uses: readonly (readonly [keyId: string, usedAt: number])[],
): Promise<void> {
  await transaction.measure(
    `insert into api_key_uses (key_id, used_at) values ${uses.map(() => '(?, ?)').join(', ')}
     on conflict (key_id) do update set used_at = excluded.used_at where api_key_uses.used_at < excluded.used_at
     returning key_id`,
    ...uses.flat(),
  );
}

/** The names of the merchants that were made after `since`, in milliseconds since 1970. */
export async function namesSince(database: Reader, since: number): Promise<string[]> {
  const sql = 'select name from merchants where created_at > ? and name is not null';
  return (await database.query<{ name: string }>(sql, since)).map(({ name }) => name);
}

interface KeyFilter {
  merchantId: string;
  modes: readonly Mode[];
  /** Those that were over by then are not; milliseconds since 1970. */
  since: number;
  /** The ids of keys that the configuration names: their rows count for nothing. */
  except: readonly string[];
}

/** Makes a list of ids one that PostgreSQL takes: it takes none that is empty. */
const listOf = (ids: readonly string[]) => ['', ...ids];

/** The keys of the store, newest first, those of one moment by their ids; behind `after`. */
export function keysMade(
  database: Reader,
  { merchantId, modes, since, except }: KeyFilter,
  after: { created_at: number; id: string } | undefined,
  limit: number,
): Promise<StoredKey[]> {
  const { created_at, id } = after ?? { created_at: Number.MAX_SAFE_INTEGER, id: '' };
  return database.query<StoredKey>(
    `select ${KEY} from api_keys
     where merchant_id = ? and mode in (${marks(modes)}) and id not in (${marks(listOf(except))})
       and (revoked_at is null or revoked_at > ?) and (expires_at is null or expires_at > ?)
       and created_at <= ? and (created_at < ? or id > ?)
     order by created_at desc, id limit ? + 0`,
    merchantId,
    ...modes,
    ...listOf(except),
    since,
    since,
    created_at,
    created_at,
    id,
    limit,
  );
}

/** The keys of a merchant in the store that were over by `since`, those that ended last first. */
export function keysOverLast(
  database: Reader,
  { merchantId, since, except }: KeyFilter,
  limit: number,
): Promise<StoredKey[]> {
  return database.query<StoredKey>(
    `select ${KEY} from api_keys where merchant_id = ? and id not in (${marks(listOf(except))})
       and (revoked_at is not null or expires_at <= ?)
     order by coalesce(revoked_at, expires_at) desc, id limit ? + 0`,
    merchantId,
    ...listOf(except),
    since,
    limit,
  );
}

export const findInviteByDigest = (database: Reader, digest: string) =>
  heldRow(database, INVITES, { digest });

/** Invitations, newest first: the `limit` newest. */
export const listInvites = (database: Reader, limit = NO_LIMIT): Promise<Invite[]> =>
  database.query<Invite>(`select ${INVITE} from invites order by id desc limit ? + 0`, limit);
