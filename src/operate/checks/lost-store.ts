// What is said of a store that is not there though checkpoints vouch for its history: whatever opens a store looks here first.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointFiles } from '../../journal/checkpoint.ts';
import { KNOWN_SEAL_FILE, knownSeal } from '../../journal/known-seal.ts';
import { isRestoreUnfinished, SQLITE_FILE, sqliteHolder } from '../../store/open.ts';
import { failed, type InstallationSettings, type Verdict } from './check.ts';

type Settings = Pick<InstallationSettings, 'storage' | 'database_url'>;

/** Whether a history was signed from this storage directory, or a node with it has served. */
export const isVouched = (storage: string) => isSigned(storage) || knownSeal(storage) !== undefined;

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

/** What is to be said of a SQLite file that is missing though checkpoints vouch for it; undefined where that is not so. */
export function lostDatabaseFile(settings: Settings): Verdict | undefined {
  const { storage, database_url } = settings;
  const file = join(storage, SQLITE_FILE);
  if (database_url !== null || existsSync(file) || !isVouched(storage)) return undefined;
  if (isRestoreUnfinished(settings)) return undefined; // which says so itself
  return lost(`${file} is missing`, settings);
}
