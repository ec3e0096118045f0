// counterfoil backup: copies a store as it is at one moment, beside its server, and verifies the copy before it counts.
import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { lostKey } from '../../journal/checkpoint-signer.ts';
import { withKnown } from '../../journal/row-fault.ts';
import { counted } from '../../lib/counted.ts';
import { monotonicMs, SECOND_MS } from '../../lib/time.ts';
import { DatabaseError } from '../../store/database.ts';
import { lockStore, prepareStorage } from '../../store/open.ts';
import type { Configuration } from '../config.ts';
import { parseFolder } from './arguments.ts';
import {
  type BackupList,
  backupNames,
  deleteAbandoned,
  deleteOldest,
  requireElsewhere,
} from './backup-folder.ts';
import { makeBackup } from './make-backup.ts';
import { configured, type StoreOptions } from './store.ts';
import { Failure, print, shownPath, tellInterrupted } from './terminal.ts';
import { CONFIG_OPTION, JSON_OPTION } from './usage.ts';

/** More is a mistake: a backup an hour for a year. */
const KEEP_MAXIMUM = 9000;

interface Options extends StoreOptions {
  keep?: number;
  unverified?: boolean;
}

export function command(): Command {
  return new Command('backup')
    .description('copy the store, beside its server, into a new folder below one, and verify the copy')
    .argument('<folder>', 'the folder in which each backup is a folder named by its moment', parseFolder)
    .option(
      '--keep <n>',
      'then delete the oldest backups of the folder, this one counted and never deleted, beyond this many',
      parseKeep,
    )
    .addOption(
      new Option(
        '--unverified',
        'keep a copy that does not verify as well, marked so; restore takes it only with the same option',
      ).conflicts('keep'),
    )
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
No key is in a backup, so that a stolen one opens nothing. counterfoil secrets backup saves the keys, sealed with a passphrase.

Examples:
  counterfoil backup /var/backups/counterfoil
  counterfoil backup /var/backups/counterfoil --keep 30 --json`,
    )
    .action(backUp);
}

function parseKeep(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > KEEP_MAXIMUM)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${KEEP_MAXIMUM}.`);
  return number;
}

async function backUp(folder: string, options: Options): Promise<void> {
  const { keep, unverified = false, json } = options;
  const begun = monotonicMs();
  const configuration = configured(options.config);
  const parent = await prepareFolder(folder, configuration);
  const release = holdBackups(configuration);
  try {
    await deleteAbandoned(parent);
    const { path, list } = await tellInterrupted(
      'nothing of it counts; a backup that is made half a day from now, or later, removes what it left',
      () => makeBackup(parent, configuration, { unverified }),
    );
    const deleted = keep === undefined ? [] : await deleteOldest(parent, keep, basename(path));
    warnOfTimeToCome(parent, basename(path));
    const lost = lostKey(configuration.storage);
    if (lost) console.error(`counterfoil: no server will start on what this backup restores: ${lost}`);
    tell(path, list, deleted, (monotonicMs() - begun) / SECOND_MS, json);
  } finally {
    release();
  }
}

function warnOfTimeToCome(folder: string, made: string): void {
  const newest = backupNames(folder).at(-1);
  if (newest !== undefined && newest > made)
    console.error(
      `counterfoil: ${newest} bears a time to come: this machine's clock was wrong then, or is now. It counts as the newest`,
    );
}

function tell(
  path: string,
  { files, storage, ...told }: BackupList,
  deleted: readonly string[],
  seconds: number,
  json: boolean | undefined,
): void {
  const fault = told.unverified ?? null;
  const made = { backup: path, ...told, unverified: fault, deleted, seconds: Number(seconds.toFixed(3)) };
  const older = deleted.length > 0 ? `, and deleted ${deleted.length} older` : '';
  const end =
    fault !== null
      ? `NOT VERIFIED: ${fault}. It does not count as a backup, and is never deleted.`
      : `verified${withKnown(told.acknowledged)}, in ${seconds.toFixed(1)} s${older}. No key is in it: counterfoil secrets backup saves those.`;
  const text = `Backed up ${counted(told.entries, 'entry', 'entries')} to ${shownPath(path)}, ${end}`;
  print({ json }, { json: made, text });
}

/** The folder that backups go into, made where the one above it is there. Throws `Failure` where it cannot take one. */
async function prepareFolder(folder: string, { storage }: Configuration): Promise<string> {
  requireElsewhere(folder, storage);
  // A disk that is not mounted shall not have its backups written into the place where it would be.
  if (!existsSync(dirname(folder)))
    throw new Failure(`${dirname(folder)} does not exist: make it, or mount it`);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/**
 * Refuses a second backup of this node at the same time: if one takes longer than the time between two, they would pile up. Returns the
 * release. Throws `Failure`.
 */
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
