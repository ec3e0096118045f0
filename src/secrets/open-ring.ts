// Opens the key ring of a store: makes the first key of a new one, and refuses keys that are not those the store needs.
import type { Database, Queryable } from '../database/database.ts';
import { MIGRATING_LOCK } from '../database/migrate.ts';
import type { Listener } from '../journal/follow.ts';
import { newestEntry } from '../journal/queries.ts';
import { DAY_MS } from '../lib/time.ts';
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

/** The subject of entries about keys. */
export const SECRETS_SUBJECT = 'secrets';

/**
 * Opens the key ring. The first start on a store takes the last key there is, or makes one, and writes its id into the store. That
 * row has no entry in the history: like the list of migrations it is about the store itself. `now` in milliseconds since 1970.
 * Throws `SecretKeysUnfit` if a key is missing, `DatabaseError`.
 */
export async function openRing(database: Database, place: KeyPlace, now: number): Promise<KeyRing> {
  const found = await storedSecretKeys(database);
  const stored = found.length > 0 ? found : await beginWithKey(database, place, now);
  const fault = missingKey(stored, place);
  if (fault) throw new SecretKeysUnfit(fault);
  return new KeyRing(() => readSecretKeys(place), ordersOf(stored));
}

/** Writes the id of a store's first key into it. Of several nodes that start at once, one makes the key. */
function beginWithKey(database: Database, place: KeyPlace, now: number): Promise<StoredSecretKey[]> {
  return database.transaction(async (transaction) => {
    if (database.engine === 'postgres') await database.script(MIGRATING_LOCK);
    const rows = await storedSecretKeys(transaction);
    if (rows.length > 0) return rows;
    const key = readSecretKeys(place).at(-1) ?? firstKey(place);
    const beside_until = (await newestEntry(transaction)) === 0 ? 0 : now + DAY_MS;
    const row: StoredSecretKey = { id: key.id, created_at: now, beside_until, removed_at: null };
    await transaction.insert('secret_keys', [row]);
    return [row];
  });
}

function firstKey(place: KeyPlace) {
  if (isOwnPlace(place)) return addSecretKey(place);
  throw new SecretKeysUnfit(
    `${keyPlaceName(place)}: holds no key: put in what counterfoil secrets new prints`,
  );
}

/** What is wrong if a key that a store needs is missing, and how to fix it; undefined if all are there. Throws `SecretKeysUnfit`. */
export function missingKey(stored: readonly StoredSecretKey[], place: KeyPlace): string | undefined {
  const ids = new Set(readSecretKeys(place).map(({ id }) => id));
  const missing = stored.find(({ id, removed_at }) => removed_at === null && !ids.has(id));
  if (!missing) return undefined;
  return `${keyPlaceName(place)}: lacks the key ${missing.id}, which the store is sealed with: copy the file from another node, or put the key back (counterfoil secrets restore)`;
}

/** What a store says of its keys. It has one at least. */
export function ordersOf(stored: readonly StoredSecretKey[]): KeyOrders {
  return {
    current: stored.findLast(({ removed_at }) => removed_at === null)?.id ?? '',
    removed: stored.filter(({ removed_at }) => removed_at !== null).map(({ id }) => id),
    besideUntil: stored[0]?.beside_until ?? 0,
  };
}

/**
 * For `followJournal`: a node learns within a second which key to seal with. A node that lacks it is not ready until it has the key:
 * what `hear` throws comes again.
 */
export function ringListener(database: Pick<Queryable, 'query'>, ring: KeyRing): Listener {
  const follow = async () => ring.use(ordersOf(await storedSecretKeys(database)));
  return { prefix: SECRETS_SUBJECT, load: follow, hear: follow };
}
