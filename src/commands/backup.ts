// counterfoil backup: copies a store as it is at one moment, beside its server, and verifies the copy before it counts.
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { Configuration } from '../config.ts';
import { DatabaseError } from '../database/database.ts';
import { prepareStorage } from '../database/open.ts';
import { lockStore } from '../database/sqlite.ts';
import { existing } from '../health/folders.ts';
import { counted } from '../lib/counted.ts';
import { monotonicMs, SECOND_MS } from '../lib/time.ts';
import { configured } from './audit.ts';
import { type BackupList, backupNames, deleteBackup, deleteUnfinished, readList } from './backup-folder.ts';
import { makeBackup } from './make-backup.ts';
import { Failure, shownPath } from './terminal.ts';

/** More is a mistake: a backup an hour for a year. */
const KEEP_MAXIMUM = 9000;

interface BackupOptions {
  keep?: number;
  verify: boolean;
  config?: string;
  json?: boolean;
}

export function backupCommand(): Command {
  return new Command('backup')
    .description('copy the store, beside its server, into a new folder below one, and verify the copy')
    .argument('<folder>', 'the folder in which each backup is a folder named by its moment')
    .option('--keep <n>', 'then delete the oldest backups of the folder beyond this many', parseKeep)
    .option('--no-verify', 'do not recompute the history of the copy')
    .option('--config <file>', 'configuration file')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  counterfoil backup /var/backups/counterfoil\n  counterfoil backup /var/backups/counterfoil --keep 30 --json',
    )
    .action(backUp);
}

function parseKeep(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > KEEP_MAXIMUM)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${KEEP_MAXIMUM}.`);
  return number;
}

async function backUp(folder: string, options: BackupOptions): Promise<void> {
  const { keep, verify, json } = options;
  if (keep !== undefined && !verify)
    throw new Failure('--keep deletes what a verified backup makes needless: leave out --no-verify');
  const begun = monotonicMs();
  const configuration = configured(options.config);
  const parent = await prepareFolder(resolve(folder), configuration);
  const release = holdBackups(configuration);
  try {
    await deleteUnfinished(parent);
    const { path, list } = await makeBackup(parent, configuration, verify);
    const deleted = keep === undefined ? [] : backupNames(parent).slice(0, -keep);
    for (const name of deleted) await deleteBackup(parent, name);
    tell(path, list, deleted, (monotonicMs() - begun) / SECOND_MS, json);
  } finally {
    release();
  }
}

function tell(
  path: string,
  list: BackupList,
  deleted: readonly string[],
  seconds: number,
  json: boolean | undefined,
): void {
  const { files, storage, ...told } = list;
  if (json) {
    console.log(JSON.stringify({ backup: path, ...told, deleted, seconds: Number(seconds.toFixed(3)) }));
    return;
  }
  const how = list.verified ? 'verified' : 'not verified';
  const older = deleted.length > 0 ? `, and deleted ${deleted.length} older` : '';
  console.log(
    `Backed up ${counted(list.entries, 'entry', 'entries')} to ${shownPath(path)}, ${how}, in ${seconds.toFixed(1)} s${older}.`,
  );
}

/** The folder that backups go into, made where the one above it is there. Raises `Failure` where it cannot take one. */
async function prepareFolder(folder: string, { storage }: Configuration): Promise<string> {
  if (`${existing(folder)}${sep}`.startsWith(`${existing(storage)}${sep}`))
    throw new Failure(
      `${shownPath(folder)} is in the storage, and would be lost with it: name a folder elsewhere`,
    );
  // A disk that is not mounted shall not have its backups written into the place where it would be.
  if (!existsSync(dirname(folder)))
    throw new Failure(`${dirname(folder)} does not exist: make it, or mount it`);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  const newest = backupNames(folder).at(-1);
  const other = newest === undefined ? storage : readList(join(folder, newest)).storage;
  if (other !== storage)
    throw new Failure(
      `${shownPath(folder)} holds backups of ${other}: give each installation a folder of its own`,
    );
  return folder;
}

/** Keeps out a second backup, which would take the unfinished one for left over. Returns the release. Raises `Failure`. */
function holdBackups({ storage }: Configuration): () => void {
  prepareStorage(storage);
  try {
    return lockStore(join(storage, 'backup.lock')); // where locks work: the folder may lie on another machine
  } catch (error) {
    if (error instanceof DatabaseError && error.failure === 'unavailable')
      throw new Failure('another backup of this store is under way');
    throw error;
  }
}
