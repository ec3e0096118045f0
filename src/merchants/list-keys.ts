// Lists the keys of a merchant as they are now, whichever node changed them: those of the store, then those of the configuration.
import type { Reader } from '../store/database.ts';
import type { Directory } from './directory.ts';
import { isInactive, type KnownKey, LISTED_FOR_MS, type Mode } from './merchant.ts';
import { keysMade, keysOverLast } from './queries.ts';

/** Limit above the maximum number of a merchant's active keys. */
const WORKING_AT_MOST = 1000;

/** Where a page ended: behind a key of that age and id. Keys of unknown age come last, as if made in 1970. */
export interface PageEnd {
  created_at: number;
  id: string;
}

interface KeyList {
  merchantId: string;
  mode?: Mode;
  now: number;
  after?: PageEnd | undefined;
  limit: number;
}

/**
 * At most `limit` keys of a merchant behind `after`: newest first, those of unknown age last, by their ids. An inactive one is listed for
 * 30 days after its end. Throws `DatabaseError`.
 */
export async function listKeys(
  database: Reader,
  directory: Directory,
  { merchantId, mode, now, after, limit }: KeyList,
): Promise<KnownKey[]> {
  // In development all keys make test payments, whatever they were made for.
  const modes = mode === undefined || directory.testOnly ? (['live', 'test'] as const) : [mode];
  const filter = {
    merchantId,
    modes,
    since: now - LISTED_FOR_MS,
    except: configuredIds(directory, merchantId),
  };
  const keys: KnownKey[] = [];
  if (!after || after.created_at > 0)
    for (const row of await keysMade(database, filter, after, limit)) keys.push(directory.keyOf(row));
  if (keys.length >= limit) return keys;
  const isBehind = ({ id }: KnownKey) => !after || after.created_at > 0 || id > after.id;
  const configured = configuredKeys(directory, filter).filter(isBehind);
  return [...keys, ...configured].slice(0, limit);
}

const configuredIds = (directory: Directory, merchantId: string) =>
  directory.configuredKeysOf(merchantId).map(({ id }) => id);

/** The keys of a merchant that the configuration names, by their ids: of some modes, and without those that ended by `since`. */
function configuredKeys(
  directory: Directory,
  { merchantId, modes, since }: { merchantId: string; modes: readonly Mode[]; since: number },
): KnownKey[] {
  return directory
    .configuredKeysOf(merchantId)
    .filter(({ mode, expires_at }) => modes.includes(mode) && (expires_at ?? Infinity) > since)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

/**
 * The keys of a merchant that work at `now`, in both modes, then the `over` that ended last; each newest first. Throws
 * `DatabaseError`.
 */
export async function keysAtWork(
  database: Reader,
  directory: Directory,
  merchantId: string,
  { now, over }: { now: number; over: number },
): Promise<KnownKey[]> {
  const except = configuredIds(directory, merchantId);
  const filter = { merchantId, modes: ['live', 'test'] as const, since: now, except };
  const made = await keysMade(database, filter, undefined, WORKING_AT_MOST);
  const ended = await keysOverLast(database, filter, over);
  const configured = configuredKeys(directory, { ...filter, since: now - LISTED_FOR_MS });
  const stored = [...made, ...ended.sort((one, other) => other.created_at - one.created_at)];
  const all = [...stored.map((row) => directory.keyOf(row)), ...configured];
  return [
    ...all.filter((key) => !isInactive(key, now)),
    ...all.filter((key) => isInactive(key, now)).slice(0, over),
  ];
}
