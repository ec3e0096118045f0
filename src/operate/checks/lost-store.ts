// What is said of a store that is not there though checkpoints vouch for its history: whatever opens a store looks here first.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointFiles } from '../../journal/checkpoint.ts';
import { isRestoreUnfinished, SQLITE_FILE } from '../../store/open.ts';
import { failed, type InstallationSettings, type Verdict } from './check.ts';

type Settings = Pick<InstallationSettings, 'storage' | 'database_url'>;

/** Whether a history was signed from this storage directory. */
export const isVouched = (storage: string) =>
  (statSync(checkpointFiles(storage).file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** The verdict on a store that is lost in the way that `says` tells, and how it is put back. */
export function lost(says: string, { storage, database_url }: Settings): Verdict {
  const { file } = checkpointFiles(storage);
  const isUnmoved = database_url !== null && existsSync(join(storage, SQLITE_FILE));
  return failed(
    `${says}, but ${file} vouches for its history`,
    `put it back (counterfoil restore BACKUP --replace${isUnmoved ? ', or counterfoil move --to postgres' : ''}), or move checkpoints.jsonl away and keep it, to begin a new store`,
  );
}

/** What is to be said of a SQLite file that is missing though checkpoints vouch for it; undefined where that is not so. */
export function lostDatabaseFile(settings: Settings): Verdict | undefined {
  const { storage, database_url } = settings;
  const file = join(storage, SQLITE_FILE);
  if (database_url !== null || existsSync(file) || !isVouched(storage)) return undefined;
  if (isRestoreUnfinished(settings)) return undefined; // which says so itself
  return lost(`${file} is missing`, settings);
}
