// Keeps a node's directory to what any node wrote about merchants and their keys.

import type { AuditEntry } from '../journal/audit-entry.ts';
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
import { findKey, findKeyByDigest, findKeys, findMerchants, keysAfter, merchantsAfter } from './queries.ts';

const PAGE = 500;

/**
 * For `followJournal`: what was revoked, suspended or made on another node holds here within a second. Keys come first, so that a
 * revocation does not wait behind many new merchants. `clock` decides which keys are inactive.
 */
export function directoryListeners(database: Reader, directory: Directory, clock: Clock): JournalListener[] {
  const keys: JournalListener = {
    prefix: KEY_ID_PREFIX,
    async load() {
      const overSince = directory.keepsOver ? 0 : clock.now();
      await pages(
        (after) => keysAfter(database, after, overSince, PAGE),
        async (rows) => takeKeys(directory, await judge(database, API_KEYS, rows)),
      );
    },
    async hear(entries) {
      const rows = await findKeys(database, subjectsOf(entries));
      takeKeys(directory, await judge(database, API_KEYS, rows));
      directory.forgetInactive(clock.now());
    },
  };
  const merchants: JournalListener = {
    prefix: MERCHANT_ID_PREFIX,
    async load() {
      await pages(
        (after) => merchantsAfter(database, after, PAGE),
        async (rows) => takeMerchants(directory, await judge(database, MERCHANTS, rows)),
      );
      const ids = directory.configuredIds;
      const rows = await findMerchants(database, ids);
      takeMerchants(directory, await judge(database, MERCHANTS, rows, ids));
    },
    async hear(entries) {
      const rows = await findMerchants(database, subjectsOf(entries));
      takeMerchants(directory, await judge(database, MERCHANTS, rows));
    },
  };
  return [keys, merchants];
}

async function pages<R extends { id: string }>(
  page: (after: string) => Promise<R[]>,
  take: (rows: R[]) => Promise<void>,
): Promise<void> {
  let rows: R[] = [];
  do {
    rows = await page(rows.at(-1)?.id ?? '');
    await take(rows);
  } while (rows.length === PAGE);
}

/** Rows that are as the history left them, those that are not, and the ids of those that the history tells of and that are not there. */
interface Judged<R> {
  right: readonly R[];
  wrong: readonly R[];
  gone: readonly string[];
}

/** Holds rows against the history. `ids`: of all that were looked for, where the table need not have each. */
async function judge<R extends { id: string }>(
  database: Reader,
  table: Recorded<R>,
  rows: readonly R[],
  ids: readonly string[] = [],
): Promise<Judged<R>> {
  const right = await thoseAsRecorded(database, table, rows);
  // Another node may have changed a row between the read of the row and that of its entry.
  const doubtful = without(
    rows.map(({ id }) => id),
    right,
  );
  const again = await rowsWithIds(database, table, doubtful);
  right.push(...(await thoseAsRecorded(database, table, again)));
  const missing = without(ids, rows);
  const told = missing.length === 0 ? [] : await newestEntryOfEach(database, missing);
  const gone = told.filter((entry) => entryFacts(entry).row !== null).map(({ subject }) => subject);
  return { right, wrong: again.filter((row) => !right.includes(row)), gone };
}

function without(ids: readonly string[], rows: readonly { id: string }[]): string[] {
  const there = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !there.has(id));
}

/** Puts the rows that are as the history left them into a directory, which distrusts the rest. */
function take<R extends { id: string }>(
  directory: Directory,
  { right, wrong, gone }: Judged<R>,
  put: (row: R) => unknown,
): void {
  for (const row of right) put(row);
  if (directory.keepsOver) for (const row of wrong) put(row); // to be listed
  for (const id of [...wrong.map((row) => row.id), ...gone]) directory.distrust(id);
}

const takeKeys = (directory: Directory, judged: Judged<StoredKey>) =>
  take(directory, judged, (row) => directory.putKey(row));
const takeMerchants = (directory: Directory, judged: Judged<StoredMerchant>) =>
  take(directory, judged, (row) => directory.putMerchant(row));

const subjectsOf = (entries: readonly AuditEntry[]) => [...new Set(entries.map(({ subject }) => subject))];

/**
 * The caller of a key that this node does not know: one made on another node or by a command a moment ago. The directory knows it from
 * then on. Without a caller, `key` is the one that is revoked or expired, if it ever was one. Throws `DatabaseError`.
 */
export async function lookUpCaller(
  database: Pick<Database, 'query' | 'refresh'>,
  directory: Directory,
  key: string,
  now: number,
): Promise<{ caller?: Caller | undefined; key?: KnownKey | undefined }> {
  if (directory.knows(key)) return { key: directory.key(keyDigest(key)) };
  database.refresh(); // a new key works at once
  const row = await findKeyByDigest(database, keyDigest(key));
  if (!row) return {};
  const merchants = await findMerchants(database, [row.merchant_id]);
  takeMerchants(directory, await judge(database, MERCHANTS, merchants));
  takeKeys(directory, await judge(database, API_KEYS, [row]));
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
