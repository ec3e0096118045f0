// Opens the key ring of a store: makes the first key of a new one, and refuses keys that are not those the store needs.

import type { Clock } from '../../lib/time.ts';
import type { Database, Reader } from '../../store/database.ts';
import { MIGRATING_LOCK } from '../../store/migrate.ts';
import type { JournalListener } from '../follow.ts';
import { SECRETS_SUBJECT } from './change.ts';
import {
  addSecretKey,
  isOwnPlace,
  type KeyPlace,
  keyPlaceName,
  readSecretKeys,
  SecretKeysUnfit,
} from './key-file.ts';
import { type KeyOrders, KeyRing } from './key-ring.ts';
import { type StoredSecretKey, storedSecretKeys } from './queries.ts';

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
