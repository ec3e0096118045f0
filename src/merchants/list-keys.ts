// Lists the keys of a merchant as they are now, whichever node changed them: those that were made here, then those of the configuration.
import type { Reader } from '../store/database.ts';
import type { Directory } from './directory.ts';
import { type KeyFilter, keysMade, keysOverLast, keysTakenOver } from './key-list-queries.ts';
import { earlier, type KnownKey } from './known-key.ts';
import type { Mode } from './merchant.ts';
import { isInactive, LISTED_FOR_MS } from './stored-key.ts';

/** More than a merchant's keys that work can be. */
const WORKING_AT_MOST = 1000;

/** Where a page ended: behind a key of that age and id. Keys of unknown age come last, as if made in 1970. */
export interface PageEnd {
  created_at: number;
  id: string;
}

/** Which keys are listed: of a mode, or of both. `now` in milliseconds since 1970. */
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
  const filter = { merchantId, modes, since: now - LISTED_FOR_MS };
  const keys: KnownKey[] = [];
  if (!after || after.created_at > 0)
    for (const row of await keysMade(database, filter, after, limit)) keys.push(directory.keyOf(row));
  if (keys.length >= limit) return keys;
  const isBehind = ({ id }: KnownKey) => !after || after.created_at > 0 || id > after.id;
  const ageless = await keysOfUnknownAge(database, directory, filter);
  return [...keys, ...ageless.filter(isBehind)].slice(0, limit);
}

/** The keys of a merchant that the configuration names or once named, by their ids. They are few, because they were written by hand. */
async function keysOfUnknownAge(
  database: Reader,
  directory: Directory,
  filter: KeyFilter,
): Promise<KnownKey[]> {
  const taken = (await keysTakenOver(database, filter)).map((row) => directory.keyOf(row));
  const keys = new Map(taken.map((key) => [key.id, key]));
  for (const key of directory.keysOf(filter.merchantId)) if (key.isConfigured) keys.set(key.id, key);
  return [...keys.values()]
    .filter((key) => key.created_at === null && filter.modes.includes(key.mode))
    .filter(
      ({ revoked_at, expires_at }) => (earlier(revoked_at, expires_at) ?? filter.since + 1) > filter.since,
    )
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
  const filter = { merchantId, modes: ['live', 'test'] as const, since: now };
  const made = await keysMade(database, filter, undefined, WORKING_AT_MOST);
  const ended = await keysOverLast(database, merchantId, now, over);
  const ageless = await keysOfUnknownAge(database, directory, { ...filter, since: now - LISTED_FOR_MS });
  const keys = new Map([...made, ...ended].map((row) => [row.id, directory.keyOf(row)]));
  for (const key of ageless) keys.set(key.id, key);
  const all = [...keys.values()].sort(
    (one, other) => (other.created_at ?? 0) - (one.created_at ?? 0) || (one.id < other.id ? -1 : 1),
  );
  return [
    ...all.filter((key) => !isInactive(key, now)),
    ...all.filter((key) => isInactive(key, now)).slice(0, over),
  ];
}
