// Keeps a node's directory to what any node wrote about merchants and their keys.
import type { Queryable } from '../database/database.ts';
import type { AuditEntry } from '../journal/audit-entry.ts';
import type { Listener } from '../journal/follow.ts';
import type { Directory } from './directory.ts';
import type { KnownKey } from './known-key.ts';
import { type Caller, isWholeKey, keyDigest } from './merchant.ts';
import {
  findKey,
  findKeyByDigest,
  findMerchant,
  keysAfter,
  keysOfMerchant,
  merchantsAfter,
} from './queries.ts';
import { KEY_ID_PREFIX } from './stored-key.ts';
import { MERCHANT_ID_PREFIX } from './stored-merchant.ts';

type Reader = Pick<Queryable, 'query'>;

const PAGE = 500;

/** For `followJournal`: what was revoked, suspended or made on another node is so here within a second. */
export function directoryListeners(database: Reader, directory: Directory): Listener[] {
  const merchants = listener(
    MERCHANT_ID_PREFIX,
    (after) => merchantsAfter(database, after, PAGE),
    (id) => findMerchant(database, id),
    (row) => directory.putMerchant(row),
  );
  const keys = listener(
    KEY_ID_PREFIX,
    (after) => keysAfter(database, after, PAGE),
    (id) => findKey(database, id),
    (row) => directory.putKey(row),
  );
  return [merchants, keys];
}

/** Takes all rows of a table at the start, and from then on each that an entry speaks of. */
function listener<R extends { id: string }>(
  prefix: string,
  page: (after: string) => Promise<R[]>,
  find: (id: string) => Promise<R | undefined>,
  put: (row: R) => void,
): Listener {
  return {
    prefix,
    async load() {
      let rows: R[] = [];
      do {
        rows = await page(rows.at(-1)?.id ?? '');
        for (const row of rows) put(row);
      } while (rows.length === PAGE);
    },
    async hear(entries: readonly AuditEntry[]) {
      for (const id of new Set(entries.map(({ subject }) => subject))) {
        const row = await find(id);
        if (row) put(row);
      }
    },
  };
}

/**
 * The caller of a key that this node does not know: one made on another node a moment ago, or nobody. The directory knows it from
 * then on. Raises `DatabaseError`.
 */
export async function lookUpCaller(
  database: Reader,
  directory: Directory,
  key: string,
  now: number,
): Promise<Caller | undefined> {
  if (!isWholeKey(key) || directory.knows(key)) return undefined;
  const row = await findKeyByDigest(database, keyDigest(key));
  if (!row) return undefined;
  const merchant = await findMerchant(database, row.merchant_id);
  if (merchant) directory.putMerchant(merchant);
  directory.putKey(row);
  return directory.find(key, now);
}

/**
 * A key by its id, as the store and the configuration have it now, whichever node changed it; nothing where there is none.
 * Raises `DatabaseError`.
 */
export async function keyById(
  database: Reader,
  directory: Directory,
  id: string,
): Promise<KnownKey | undefined> {
  const row = await findKey(database, id);
  if (!row) return directory.configuredKey(id);
  directory.putKey(row);
  return directory.key(row.digest);
}

/**
 * The keys of a merchant as they are now, whichever node changed them: those that work, and those that ended after `since`
 * (milliseconds since 1970); newest first, those of unknown age last. Raises `DatabaseError`.
 */
export async function keysOf(
  database: Reader,
  directory: Directory,
  merchantId: string,
  since: number,
): Promise<KnownKey[]> {
  for (const row of await keysOfMerchant(database, merchantId, since)) directory.putKey(row);
  const isTold = ({ revoked_at, expires_at }: KnownKey) =>
    Math.min(revoked_at ?? since + 1, expires_at ?? since + 1) > since;
  return directory
    .keysOf(merchantId)
    .filter(isTold)
    .sort((one, other) => (other.created_at ?? 0) - (one.created_at ?? 0) || (one.id < other.id ? -1 : 1));
}
