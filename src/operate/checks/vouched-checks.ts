// Checks that the store holds the history which checkpoints vouch for, so that no start goes unnoticed on a lost or an older store.
import { join } from 'node:path';
import { type OtherHistory, otherHistory } from '../../journal/other-history.ts';
import { counted } from '../../lib/counted.ts';
import { momentsIn } from '../../lib/moments.ts';
import { isRestoreUnfinished, SQLITE_FILE } from '../../store/open.ts';
import { type Check, failed, intoStore, ok, skipped, type Verdict } from './check.ts';
import { isVouched, lost, lostDatabaseFile, misplacedFiles } from './lost-store.ts';
import { newestSealIn } from './store-checks.ts';

const database_file: Check = {
  id: 'database_file',
  about: 'Database file',
  stage: 'start',
  always: true,
  look({ settings }) {
    if (settings.database_url !== null) return skipped('PostgreSQL holds the store');
    if (isRestoreUnfinished(settings)) return skipped('A restore is unfinished');
    return misplacedFiles(settings) ?? lostDatabaseFile(settings) ?? ok('No database file is missing');
  },
};

const vouched_history: Check = {
  id: 'vouched_history',
  about: 'Vouched history',
  stage: 'store',
  always: true,
  look: intoStore(async (database, { settings }) => {
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
};

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

/** Before the store is opened, which makes the file; and after. */
export const DATABASE_FILE_CHECKS: readonly Check[] = [database_file];
export const VOUCHED_CHECKS: readonly Check[] = [vouched_history];
