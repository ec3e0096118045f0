// Checks that the store is there whose history checkpoints vouch for: what is lost must not be begun anew unseen.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isRestoreUnfinished, SQLITE_FILE } from '../database/open.ts';
import { checkpointFiles } from '../journal/checkpoint.ts';
import {
  type Check,
  failed,
  type InstallationSettings,
  intoStore,
  ok,
  skipped,
  type Verdict,
} from './check.ts';
import { newestSealIn } from './store-checks.ts';

type Settings = Pick<InstallationSettings, 'storage' | 'database_url'>;

/** Whether a history was signed from this storage directory. */
const isVouched = (storage: string) =>
  (statSync(checkpointFiles(storage).file, { throwIfNoEntry: false })?.size ?? 0) > 0;

function lost(says: string, { storage, database_url }: Settings): Verdict {
  const { file } = checkpointFiles(storage);
  const isUnmoved = database_url !== null && existsSync(join(storage, SQLITE_FILE));
  return failed(
    `${says}, but ${file} vouches for its history`,
    `put it back (counterfoil restore BACKUP --replace${isUnmoved ? ', or counterfoil move --to postgres' : ''}), or move checkpoints.jsonl away and keep it, to begin a new store`,
  );
}

/** What is to be said of a SQLite file that is missing though checkpoints vouch for it; nothing where that is not so. */
export function lostDatabaseFile(settings: Settings): Verdict | undefined {
  const { storage, database_url } = settings;
  const file = join(storage, SQLITE_FILE);
  if (database_url !== null || existsSync(file) || !isVouched(storage)) return undefined;
  if (isRestoreUnfinished(settings)) return undefined; // which says so itself
  return lost(`${file} is missing`, settings);
}

const database_file: Check = {
  id: 'database_file',
  about: 'Database file',
  stage: 'start',
  always: true,
  look({ settings }) {
    if (settings.database_url !== null) return skipped('PostgreSQL holds the store');
    if (isRestoreUnfinished(settings)) return skipped('A restore is unfinished');
    return lostDatabaseFile(settings) ?? ok('No database file is missing');
  },
};

const vouched_history: Check = {
  id: 'vouched_history',
  about: 'Vouched history',
  stage: 'store',
  always: true,
  look: intoStore(async (database, { settings }) => {
    if (!isVouched(settings.storage)) return skipped('No checkpoint was signed yet');
    if (await newestSealIn(database)) return ok('The store has a history, as checkpoints say');
    const what =
      database.engine === 'sqlite' ? join(settings.storage, SQLITE_FILE) : 'The database of database_url';
    return lost(`${what} holds no entries`, settings);
  }),
};

/** Before the store is opened, which makes the file; and after. */
export const DATABASE_FILE_CHECKS: readonly Check[] = [database_file];
export const VOUCHED_CHECKS: readonly Check[] = [vouched_history];
