// Checks that the store is there whose history checkpoints vouch for: what is lost must not be begun anew unseen.
import { join } from 'node:path';
import { isRestoreUnfinished, SQLITE_FILE } from '../database/open.ts';
import { type Check, intoStore, ok, skipped } from './check.ts';
import { isVouched, lost, lostDatabaseFile } from './lost-store.ts';
import { newestSealIn } from './store-checks.ts';

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
