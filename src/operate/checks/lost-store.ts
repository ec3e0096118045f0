// Whether a store holds the history that checkpoints vouch for, or is lost: whatever opens a store looks here first.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointFiles } from '../../journal/checkpoint.ts';
import { KNOWN_SEAL_FILE, knownSeal, type OtherHistory, otherHistory } from '../../journal/known-seal.ts';
import { counted } from '../../lib/counted.ts';
import { momentsIn } from '../../lib/moments.ts';
import { isRestoreUnfinished, SQLITE_FILE, sqliteHolder } from '../../store/open.ts';
import {
  check,
  checkTable,
  failed,
  type InstallationSettings,
  ok,
  skipped,
  storeCheck,
  type Verdict,
} from './check.ts';
import { newestSealIn } from './store-checks.ts';

type Settings = Pick<InstallationSettings, 'storage' | 'database_url'>;

/** Whether a history was signed from this storage directory, or a node with it has served. */
const isVouched = (storage: string) => isSigned(storage) || knownSeal(storage) !== undefined;

const isSigned = (storage: string) =>
  (statSync(checkpointFiles(storage).file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** The verdict on a store that is lost in the way that `says` tells, and how it is put back. */
export function lost(says: string, { storage, database_url }: Settings): Verdict {
  const file = isSigned(storage) ? checkpointFiles(storage).file : join(storage, KNOWN_SEAL_FILE);
  const isUnmoved = database_url !== null && existsSync(join(storage, SQLITE_FILE));
  return failed(
    `${says}, but ${file} vouches for its history`,
    `put it back (counterfoil restore BACKUP --replace${isUnmoved ? ', or counterfoil move --to postgres' : ''}), or move checkpoints.jsonl and newest-seal.json away and keep them, to begin a new store`,
  );
}

/** The verdict on a SQLite store that a server has open, and that is not in its place any more; undefined where that is not so. */
export function misplacedFiles(settings: Settings): Verdict | undefined {
  const { storage, database_url } = settings;
  const holder = database_url === null ? sqliteHolder({ storage }) : undefined;
  if (!holder || holder.isInPlace) return undefined;
  return failed(
    `${join(storage, SQLITE_FILE)} is not the database that the server has open (process ${holder.pid}): it was removed, moved or replaced`,
    'do not stop the server; run counterfoil store rescue, which saves what it has open, and follow what it says',
  );
}

/** The verdict on a SQLite file that is missing though checkpoints vouch for it. Undefined if it is there. */
export function lostDatabaseFile(settings: Settings): Verdict | undefined {
  const { storage, database_url } = settings;
  const file = join(storage, SQLITE_FILE);
  if (database_url !== null || existsSync(file) || !isVouched(storage)) return undefined;
  if (isRestoreUnfinished(settings)) return undefined; // which says so itself
  return lost(`${file} is missing`, settings);
}

/** Before the store is opened, which makes the file; and after. */
export const DATABASE_FILE_CHECKS = checkTable({
  database_file: check('Database file', ['start', 'always'], ({ settings }) => {
    if (settings.database_url !== null) return skipped('PostgreSQL holds the store');
    if (isRestoreUnfinished(settings)) return skipped('A restore is unfinished');
    return misplacedFiles(settings) ?? lostDatabaseFile(settings) ?? ok('No database file is missing');
  }),
});

export const VOUCHED_CHECKS = checkTable({
  vouched_history: storeCheck('Vouched history', ['store', 'always'], async (database, { settings }) => {
    if (!isVouched(settings.storage)) return skipped('No checkpoint was signed yet');
    if (!(await newestSealIn(database))) {
      const what =
        database.engine === 'sqlite' ? join(settings.storage, SQLITE_FILE) : 'The database of database_url';
      return lost(`${what} holds no entries`, settings);
    }
    const other = await otherHistory(database, settings.storage);
    return other
      ? contradicted(other, settings.time_zone)
      : ok('The store holds what the newest checkpoint and the newest seal of this node vouch for');
  }),
});

/** The verdict on a store that does not hold the history which is vouched for, with the end of both. */
function contradicted({ vouched, end }: OtherHistory, timeZone: string): Verdict {
  const held = counted(end?.last_entry, 'entry', 'entries');
  const known = counted(vouched.last_entry, 'entry', 'entries');
  const at = momentsIn(timeZone).within(vouched.at);
  const by = vouched.isSigned
    ? `the checkpoint of ${at} vouches for`
    : `this node had acknowledged, on ${at},`;
  return failed(
    `The store holds ${held}, and ${by} ${known} of another history: an older copy was put in its place, or storage and database_url are not of one store`,
    'put the right database back; if this one is all there is, run counterfoil audit restored, which records it in the history',
  );
}
