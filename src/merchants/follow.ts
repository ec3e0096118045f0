// Keeps a node's directory to what any node wrote about merchants and their keys.

import type { JournalListener } from '../journal/feed.ts';
import { newestEntryOfEach } from '../journal/queries.ts';
import { type Recorded, thoseAsRecorded } from '../journal/record-row.ts';
import { entryFacts } from '../journal/rows.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Reader } from '../store/database.ts';
import { rowsWithIds } from '../store/table.ts';
import type { Directory } from './directory.ts';
import {
  API_KEYS,
  type Caller,
  KEY_ID_PREFIX,
  type KnownKey,
  keyDigest,
  MERCHANT_ID_PREFIX,
  MERCHANTS,
  type StoredKey,
  type StoredMerchant,
} from './merchant.ts';
import { findKey, findKeyByDigest, findMerchants, keysAfter, merchantsAfter } from './queries.ts';

const PAGE = 500;

/**
 * For `followJournal`: what was revoked, suspended or made on another node holds here within a second. Keys come first, so that a
 * revocation does not wait behind many new merchants. `clock` decides which keys are inactive.
 */
export function directoryListeners(database: Reader, directory: Directory, clock: Clock): JournalListener[] {
  const listener = <R extends { id: string }>(
    prefix: string,
    taker: Taker<R>,
    page: (after: string) => Promise<R[]>,
    named: () => readonly string[] = () => [],
  ): JournalListener => ({
    prefix,
    async load() {
      let rows: R[] = [];
      do {
        rows = await page(rows.at(-1)?.id ?? '');
        await take(database, directory, taker, rows);
      } while (rows.length === PAGE);
      const ids = named();
      await take(database, directory, taker, await rowsWithIds(database, taker.table, ids), ids);
    },
    async hear(entries) {
      const ids = [...new Set(entries.map(({ subject }) => subject))];
      await take(database, directory, taker, await rowsWithIds(database, taker.table, ids));
      directory.forgetInactive(clock.now());
    },
  });
  const overSince = () => (directory.keepsOver ? 0 : clock.now());
  return [
    listener(KEY_ID_PREFIX, KEYS, (after) => keysAfter(database, after, overSince(), PAGE)),
    listener(
      MERCHANT_ID_PREFIX,
      PROFILES,
      (after) => merchantsAfter(database, after, PAGE),
      () => directory.configuredIds,
    ),
  ];
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

function without(ids: readonly string[], rows: readonly { id: string }[]): string[] {
  const there = new Set(idsOf(rows));
  return ids.filter((id) => !there.has(id));
}

/** A table of which the directory holds the rows. */
interface Taker<R extends object> {
  table: Recorded<R>;
  put(directory: Directory, row: R): void;
}
const KEYS: Taker<StoredKey> = { table: API_KEYS, put: (directory, row) => void directory.putKey(row) };
const PROFILES: Taker<StoredMerchant> = {
  table: MERCHANTS,
  put: (directory, row) => directory.putMerchant(row),
};

/**
 * Puts the rows that are as the history left them into a directory, which distrusts the rest, and those that the history tells of and
 * that are not there. `ids`: of all that were looked for, where the table need not have each. Throws `DatabaseError`.
 */
async function take<R extends { id: string }>(
  database: Reader,
  directory: Directory,
  { table, put }: Taker<R>,
  rows: readonly R[],
  ids: readonly string[] = [],
): Promise<void> {
  const right = await thoseAsRecorded(database, table, rows);
  // Another node may have changed a row between the read of the row and that of its entry.
  const doubtful = without(idsOf(rows), right);
  const again = await rowsWithIds(database, table, doubtful);
  right.push(...(await thoseAsRecorded(database, table, again)));
  const wrong = again.filter((row) => !right.includes(row));
  const missing = without(ids, rows);
  const told = missing.length === 0 ? [] : await newestEntryOfEach(database, missing);
  const gone = told.filter((entry) => entryFacts(entry).row !== null).map(({ subject }) => subject);
  for (const row of right) put(directory, row);
  if (directory.keepsOver) for (const row of wrong) put(directory, row); // to be listed
  for (const id of [...idsOf(wrong), ...gone]) directory.distrust(id);
}

/**
 * The caller of a key that this node does not know: one made on another node or by a command a moment ago. The directory knows it from
 * then on. Without a caller, `key` is the one that is revoked or expired, if it ever was one. Throws `DatabaseError`.
 */
export async function lookUpCaller(
  database: Pick<Database, 'query' | 'flushing' | 'refresh'>,
  directory: Directory,
  key: string,
  now: number,
): Promise<{ caller?: Caller | undefined; key?: KnownKey | undefined }> {
  if (directory.knows(key)) return { key: directory.key(keyDigest(key)) };
  // A new key works at once: reads share a view, which a flush holds.
  await database.flushing?.catch(() => {});
  database.refresh();
  const row = await findKeyByDigest(database, keyDigest(key));
  if (!row) return {};
  const merchants = await findMerchants(database, [row.merchant_id]);
  await take(database, directory, PROFILES, merchants);
  await take(database, directory, KEYS, [row]);
  return { key: directory.keyOf(row), caller: directory.find(key, now) };
}

/**
 * A key by its id, as the configuration or the store has it now, whichever node changed it. Undefined if there is none. Throws
 * `DatabaseError`.
 */
export async function keyById(
  database: Reader,
  directory: Directory,
  id: string,
): Promise<KnownKey | undefined> {
  const configured = directory.configuredKey(id);
  const row = configured ? undefined : await findKey(database, id);
  return row ? directory.keyOf(row) : configured;
}
