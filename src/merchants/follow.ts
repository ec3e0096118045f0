// Keeps a node's directory to what any node wrote about merchants and their keys.

import type { AuditEntry } from '../journal/audit-entry.ts';
import type { JournalListener } from '../journal/follow.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Reader } from '../store/database.ts';
import type { Directory } from './directory.ts';
import type { KnownKey } from './known-key.ts';
import { type Caller, keyDigest, type MerchantWithKeys } from './merchant.ts';
import {
  findKey,
  findKeyByDigest,
  findKeys,
  findMerchant,
  findMerchants,
  keysAfter,
  merchantsAfter,
} from './queries.ts';
import { KEY_ID_PREFIX, type StoredKey } from './stored-key.ts';
import { MERCHANT_ID_PREFIX } from './stored-merchant.ts';

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
        (row) => directory.putKey(row),
      );
      await loadConfigured(database, directory);
    },
    async hear(entries) {
      for (const row of await findKeys(database, subjectsOf(entries))) directory.putKey(row);
      directory.forgetInactive(clock.now());
    },
  };
  const merchants: JournalListener = {
    prefix: MERCHANT_ID_PREFIX,
    load: () =>
      pages(
        (after) => merchantsAfter(database, after, PAGE),
        (row) => directory.putMerchant(row),
      ),
    async hear(entries) {
      for (const row of await findMerchants(database, subjectsOf(entries))) directory.putMerchant(row);
    },
  };
  return [keys, merchants];
}

/** Takes all rows of a table, a page at a time. */
async function pages<R extends { id: string }>(
  page: (after: string) => Promise<R[]>,
  put: (row: R) => void,
): Promise<void> {
  let rows: R[] = [];
  do {
    rows = await page(rows.at(-1)?.id ?? '');
    for (const row of rows) put(row);
  } while (rows.length === PAGE);
}

const subjectsOf = (entries: readonly AuditEntry[]) => [...new Set(entries.map(({ subject }) => subject))];

/** Takes the rows of the keys that the configuration names, inactive ones too. */
async function loadConfigured(database: Reader, directory: Directory): Promise<void> {
  const ids = directory.configuredKeyIds;
  for (let i = 0; i < ids.length; i += PAGE)
    for (const row of await findKeys(database, ids.slice(i, i + PAGE))) directory.putKey(row);
}

/**
 * Puts `merchants` in place of those of the configuration. A key that was revoked in the store is no good from the first moment,
 * although the configuration names it now. Throws `DatabaseError`.
 */
export async function replaceConfigured(
  database: Reader,
  directory: Directory,
  merchants: readonly MerchantWithKeys[],
): Promise<void> {
  const ids = merchants.flatMap(({ keys }) => keys.map(({ id }) => id));
  const rows: StoredKey[] = [];
  for (let i = 0; i < ids.length; i += PAGE) rows.push(...(await findKeys(database, ids.slice(i, i + PAGE))));
  directory.replace(merchants);
  for (const row of rows) directory.putKey(row);
}

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
  const merchant = await findMerchant(database, row.merchant_id);
  if (merchant) directory.putMerchant(merchant);
  return { key: directory.putKey(row), caller: directory.find(key, now) };
}

/**
 * A key by its id, as the store and the configuration have it now, whichever node changed it. Undefined if there is none. Throws
 * `DatabaseError`.
 */
export async function keyById(
  database: Reader,
  directory: Directory,
  id: string,
): Promise<KnownKey | undefined> {
  const row = await findKey(database, id);
  return row ? directory.putKey(row) : directory.configuredKey(id);
}
