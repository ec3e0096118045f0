// The SQL that keys are listed with.
import type { Reader } from '../store/database.ts';
import { marks } from '../store/table.ts';
import { API_KEYS, type Mode, type StoredKey } from './merchant.ts';

const KEY = API_KEYS.columnList;

/** Which keys of a merchant are listed. */
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
