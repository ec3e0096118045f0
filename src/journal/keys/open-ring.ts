// The keys for secrets that a store counts: their rows, the ring that is opened of them, and their changes.
import { OperationalError } from '../../lib/errors.ts';
import type { Clock } from '../../lib/time.ts';
import type { Database, Reader } from '../../store/database.ts';
import { MIGRATING_LOCK } from '../../store/migrate.ts';
import { integer, integerOrNull, type RowOf, table, text } from '../../store/table.ts';
import type { Act } from '../audit-entry.ts';
import type { JournalListener } from '../feed.ts';
import { entriesOf } from '../queries.ts';
import { recordRow } from '../record-row.ts';
import type { Transaction } from '../transaction.ts';
import {
  addSecretKey,
  isOwnPlace,
  type KeyPlace,
  keyPlaceName,
  readSecretKeys,
  SecretKeysUnfit,
} from './key-file.ts';
import { type KeyOrders, KeyRing } from './key-ring.ts';

/** A row of `secret_keys`. Times in milliseconds since 1970. */
export const SECRET_KEYS = table('secret_keys', {
  /** The key's id, as `secrets.key` has it. */
  id: text(),
  /** From when the store is sealed with it. */
  created_at: integer(),
  /** From when it counts no more. */
  removed_at: integerOrNull(),
});
export type StoredSecretKey = RowOf<typeof SECRET_KEYS>;

const SECRET_KEY = SECRET_KEYS.columnList;

/**
 * Opens the key ring. The first start on a store takes the last key there is, or makes one, and writes its id into the store. That row
 * has no entry in the history: see `isFirstUntold`. Throws `SecretKeysUnfit` if a key is missing, `DatabaseError`.
 */
export async function openRing(database: Database, place: KeyPlace, clock: Clock): Promise<KeyRing> {
  if ((await storedSecretKeys(database)).length === 0) await beginWithKey(database, place, clock);
  return ringOf(await storedSecretKeys(database), place);
}

/** The ring of the keys that a store counts. Throws `SecretKeysUnfit` if one is missing. */
export function ringOf(stored: readonly StoredSecretKey[], place: KeyPlace): KeyRing {
  const [missing] = missingKeys(stored, place);
  if (missing) throw new SecretKeysUnfit(`${lackOf(missing, place)}: ${MISSING_KEY_FIX}`);
  return new KeyRing(() => readSecretKeys(place), ordersOf(stored));
}

/** Writes the id of a store's first key into it. Of several nodes that start at once, one makes the key. */
function beginWithKey(database: Database, place: KeyPlace, clock: Clock): Promise<void> {
  return database.transaction(async (transaction) => {
    await lockKeys(transaction, database.engine);
    if ((await storedSecretKeys(transaction)).length > 0) return;
    const key = readSecretKeys(place).at(-1) ?? firstKey(place);
    await transaction.insert('secret_keys', [{ id: key.id, created_at: clock.now(), removed_at: null }]);
  });
}

/** Lets one node at a time add a key to its file. Lasts until the transaction ends; on SQLite the transaction itself is the lock. */
export async function lockKeys(transaction: Reader, engine: Database['engine']): Promise<void> {
  if (engine === 'postgres') await transaction.query(MIGRATING_LOCK);
}

function firstKey(place: KeyPlace) {
  if (isOwnPlace(place)) return addSecretKey(place);
  throw new SecretKeysUnfit(
    `${keyPlaceName(place)}: holds no key: put in what counterfoil secrets new prints`,
  );
}

/** The keys that a store counts and this node lacks. Throws `SecretKeysUnfit` if the keys cannot be read. */
export function missingKeys(stored: readonly StoredSecretKey[], place: KeyPlace): StoredSecretKey[] {
  const ids = new Set(readSecretKeys(place).map(({ id }) => id));
  return stored.filter(({ id, removed_at }) => removed_at === null && !ids.has(id));
}

/** What is wrong if a key is missing, as a clause. */
export function lackOf({ id }: StoredSecretKey, place: KeyPlace): string {
  return `${keyPlaceName(place)}: lacks the key ${id}, which the store is sealed with`;
}

/** What to do about a missing key. */
export const MISSING_KEY_FIX =
  'copy the file from another node, or put the key back (counterfoil secrets restore); if it is lost for good: counterfoil secrets lost';

/** What a store says of its keys. It has one at least. */
export function ordersOf(stored: readonly StoredSecretKey[]): KeyOrders {
  return {
    current: stored.findLast(({ removed_at }) => removed_at === null)?.id ?? '',
    removed: stored.filter(({ removed_at }) => removed_at !== null).map(({ id }) => id),
  };
}

/**
 * For `followJournal`: a node learns within a second which key to seal with. A node that lacks it is not ready until it has the key:
 * what `hear` throws comes again.
 */
export function ringListener(database: Reader, ring: KeyRing): JournalListener {
  const follow = async () => ring.use(ordersOf(await storedSecretKeys(database)));
  return { prefix: SECRETS_SUBJECT, load: follow, hear: follow };
}

/** The subject of entries about keys as a whole. It is the prefix of the subjects about one key. */
const SECRETS_SUBJECT = 'secrets';
/** What stands before a key's id in the subject of its entries. */
export const SECRET_KEY_PREFIX = `${SECRETS_SUBJECT}_`;

const RECORDED_KEYS = {
  ...SECRET_KEYS,
  subjectOf: ({ id }: StoredSecretKey) => SECRET_KEY_PREFIX + id,
};

function recordKey(
  transaction: Transaction,
  act: Act,
  action: string,
  after: StoredSecretKey,
  before?: StoredSecretKey,
): Promise<void> {
  return recordRow(transaction, act, action, RECORDED_KEYS, { before, after });
}

/** Makes every node read its keys again, so that each knows `key` before any node uses it. */
export function announceKey(transaction: Transaction, { actor, request_id }: Act, key: string): void {
  transaction.record({
    actor,
    action: 'secrets.key_announced',
    subject: SECRETS_SUBJECT,
    request_id,
    facts: { key },
  });
}

/** Whether a store has only the key that it began with. That key has no entry until it gets a successor. */
export async function isFirstUntold(
  database: Pick<Transaction, 'query'>,
  stored: readonly StoredSecretKey[],
): Promise<boolean> {
  const [first, second] = stored;
  if (!first || second || first.removed_at !== null) return false;
  return (await entriesOf(database, SECRET_KEY_PREFIX + first.id)).length === 0;
}

/** Makes `id` the key to seal with. */
export async function useKey(transaction: Transaction, act: Act, id: string): Promise<void> {
  const stored = await storedSecretKeys(transaction);
  const [first, newest] = [stored[0]!, stored.at(-1)!];
  if (await isFirstUntold(transaction, stored))
    await recordKey(transaction, act, 'secrets.key_recorded', first);
  // The key with the latest `created_at` is the current one, also if the clock went back.
  const created_at = Math.max(transaction.now, newest.created_at + 1);
  const row: StoredSecretKey = { id, created_at, removed_at: null };
  transaction.insert(SECRET_KEYS, row);
  await recordKey(transaction, act, 'secrets.key_used', row);
}

/** Marks a key as removed, under the given action. Throws `not_found` if the store counts no such key. */
export async function dropKey(transaction: Transaction, act: Act, action: string, id: string): Promise<void> {
  const row = await removeStoredKey(transaction, id);
  if (!row) throw new OperationalError('not_found', `The store counts no key ${id}.`);
  await recordKey(transaction, act, action, row, { ...row, removed_at: null });
}

/** All keys of a store, oldest first: the last that is not removed is the one to seal with. */
export function storedSecretKeys(database: Reader): Promise<StoredSecretKey[]> {
  return database.query(`select ${SECRET_KEY} from secret_keys order by created_at, id`);
}

/** Returns whether the store counts a key. If so, the key cannot be removed until the transaction ends. */
export async function holdStoredKey(transaction: Transaction, id: string): Promise<boolean> {
  const sql =
    'update secret_keys set removed_at = removed_at where id = ? and removed_at is null returning id';
  return (await transaction.query(sql, id)).length > 0;
}

/** Marks a key as removed. Returns the row after it; undefined if the store counts no such key. */
async function removeStoredKey(transaction: Transaction, id: string): Promise<StoredSecretKey | undefined> {
  const sql = `update secret_keys set removed_at = ? where id = ? and removed_at is null returning ${SECRET_KEY}`;
  return (await transaction.change<StoredSecretKey>(sql, transaction.now, id))[0];
}
