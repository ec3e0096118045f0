// counterfoil restore: puts a backup in the place of a store, verified before, and moves what lay there aside.

import { join } from 'node:path';
import type { Command } from 'commander';
import { readCheckpoints } from '../../journal/checkpoint.ts';
import { withKnown } from '../../journal/row-fault.ts';
import { counted } from '../../lib/counted.ts';
import { momentsIn } from '../../lib/moments.ts';
import { databaseName } from '../../store/connection-string.ts';
import { knownMigrations } from '../../store/migrate.ts';
import { holdStorage, isRestoreUnfinished, type StoreSettings } from '../../store/open.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { parseFolder } from './arguments.ts';
import { type BackupList, readList } from './backup-folder.ts';
import { CHECKPOINT_KEY, type NeededKey, neededKeys, SECRETS_KEY } from './node-keys.ts';
import { displacedFiles, placeBackup } from './place-backup.ts';
import type { StoreOptions } from './store.ts';
import { Failure, print, shownPath, tellInterrupted } from './terminal.ts';
import { CONFIG_OPTION, JSON_OPTION, newCommand } from './usage.ts';

interface RestoreOptions extends StoreOptions {
  replace?: boolean;
  unverified?: boolean;
}

export function command(): Command {
  return newCommand(
    'restore',
    'put a backup in the place of the store, with the server stopped',
    [
      'restore /var/backups/counterfoil/2026-11-21T041700Z',
      'restore /var/backups/counterfoil/2026-11-21T041700Z --replace',
    ],
    `A backup is restored into either engine, whichever it is of. On PostgreSQL, first make an empty database and name that in database_url,
or by DATABASE_URL. --replace moves aside only what lies in
the storage directory, checkpoints above all: the database that held the store stays as it is, under its own name.`,
  )
    .argument('<backup>', 'a folder that counterfoil backup made', parseFolder)
    .option(
      '--replace',
      'where files of a store are in storage already, move them aside; nothing of them is deleted',
    )
    .option('--unverified', 'take a backup that is marked as not verified, and put it in place as it is')
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .action(restore);
}

async function restore(backup: string, options: RestoreOptions): Promise<void> {
  const { replace = false, unverified = false, config, json } = options;
  const configuration = readConfiguration(configurationFile(config));
  const list = readList(backup);
  requireFit(list);
  if (list.unverified !== undefined && !unverified)
    throw new Failure(
      `${shownPath(backup)} was not verified when it was made: ${list.unverified}. Take one that was; --unverified puts this one in place as it is, faults included`,
    );
  requirePlace(list, configuration, replace);

  const release = holdStorage(configuration); // whatever state the store is in that is there
  try {
    requirePlace(list, configuration, replace); // a server may have begun and ended meanwhile
    const reached = readCheckpoints(configuration.storage).checkpoints.at(-1)?.last_entry ?? 0;
    const aside = await tellInterrupted('the same command begins anew', () =>
      placeBackup(backup, list, configuration),
    );
    tell(list, { ...configuration, backup, aside, reached, keys: neededKeys(list, configuration) }, json);
  } finally {
    release();
  }
}

function requireFit({ schema, version }: BackupList): void {
  const known = knownMigrations().length;
  if (schema > known)
    throw new Failure(
      `the backup's schema is of version ${schema}, this program knows ${known}: restore it with version ${version} or newer`,
    );
}

/** Throws `Failure` if files of a store exist already and `--replace` does not allow to move them aside. */
function requirePlace(list: BackupList, configuration: Configuration, replace: boolean): void {
  const { storage } = configuration;
  const [found] = displacedFiles(configuration, list);
  // What one that was cut short left was moved aside with leave, or put there by it.
  if (found && !replace && !isRestoreUnfinished(configuration))
    throw new Failure(
      `${shownPath(join(storage, found))} is there already: --replace moves it and all that belongs to it aside`,
    );
}

interface Restored extends StoreSettings, Pick<Configuration, 'time_zone'> {
  backup: string;
  /** Where the old store is now. */
  aside: string | undefined;
  keys: NeededKey[];
  /** The newest entry that a checkpoint of the old store vouched for. */
  reached: number;
}

/** What is in place now, what is not in it, and what to do next. */
function tell(
  list: BackupList,
  { backup, storage, database_url, time_zone, aside, reached, keys }: Restored,
  json: boolean | undefined,
): void {
  const { entries, newest_entry_at, unverified = null, acknowledged = 0 } = list;
  const lost = Math.max(0, reached - entries);
  const database = database_url === null ? null : databaseName(database_url);
  const newest =
    newest_entry_at === null ? '' : `, the newest of ${momentsIn(time_zone).within(newest_entry_at)}`;
  const place = [...(database ? [`the database ${database}`] : []), shownPath(storage)].join(' and ');
  const lines = [
    `Restored ${counted(entries, 'entry', 'entries')}${newest}, to ${place}; ${unverified === null ? `verified${withKnown(acknowledged)}` : `NOT VERIFIED: ${unverified}`}.`,
    'Whatever was changed since is not in it.',
  ];
  if (lost > 0)
    lines.push(
      `That is ${counted(lost, 'entry', 'entries')} at least: a checkpoint vouched for entry ${reached}.`,
    );
  if (aside) lines.push(`What was there is in ${shownPath(aside)}. Keep it: it shows what was lost.`);
  for (const key of keys) lines.push(keyLine(key));
  lines.push(
    'Next: counterfoil doctor, then start the server. If a start of another node is refused, run counterfoil audit restored there.',
  );
  const told = { restored: backup, storage, database, entries, newest_entry_at, unverified, acknowledged };
  const document = { ...told, keys, replaced: aside ?? null, lost_at_least: lost };
  print({ json }, { json: document, text: lines.join('\n') });
}

function keyLine({ name, id, is_there }: NeededKey): string {
  if (is_there) return `It needs the ${name} ${id}, which is here.`;
  return `It needs the ${name} ${id}, which is NOT here, and no server starts without it: counterfoil secrets restore FILE puts it back. ${LOST[name]}`;
}

/** What is left to do where a key was never saved. */
const LOST: Readonly<Record<string, string>> = {
  [CHECKPOINT_KEY]:
    'If it is lost, move checkpoints.jsonl and checkpoint-key.pub.pem away and keep them: the next start makes a new key.',
  [SECRETS_KEY]: 'If it is lost, docs/operating/runbook.md says what is lost with it ("A key is lost").',
};
