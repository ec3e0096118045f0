// counterfoil restore: puts a backup in the place of a store, verified before, and moves what lay there aside.

import { existsSync, readdirSync } from 'node:fs';
import { link, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { CHECKPOINT_FILES, PRIVATE_KEY_FILE, readCheckpoints } from '../../journal/checkpoint.ts';
import { KNOWN_SEAL_FILE } from '../../journal/known-seal.ts';
import { appliedMigrations, newestSeal } from '../../journal/queries.ts';
import { withKnown } from '../../journal/rows.ts';
import { HistoryBroken } from '../../journal/verify.ts';
import { copyDurably, sync } from '../../lib/durable-files.ts';
import { momentsIn } from '../../lib/moments.ts';
import { counted } from '../../lib/text.ts';
import { lookAtTarget } from '../../store/carry.ts';
import { databaseName } from '../../store/connection-string.ts';
import type { Database } from '../../store/database.ts';
import { knownMigrations, migrate } from '../../store/migrate.ts';
import {
  holdStorage,
  isRestoreUnfinished,
  openDatabase,
  restoreFolder,
  SQLITE_FILE,
  type StoreSettings,
} from '../../store/open.ts';
import { openSqlite } from '../../store/sqlite.ts';
import { readSqliteCopy } from '../../store/sqlite-copy.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { carryAll } from './backup.ts';
import {
  type BackupList,
  damaged,
  freshFolder,
  makeFolder,
  readList,
  requireFiles,
} from './backup-folder.ts';
import { CHECKPOINT_KEY, type NeededKey, neededKeys, SECRETS_KEY } from './secrets.ts';
import { type StoreOptions, verifying } from './store.ts';
import { atEnd, Failure, print, shownPath, tellInterrupted, withProgressBar } from './terminal.ts';
import { newCommand, parseFolder } from './usage.ts';

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

  await using _held = atEnd(holdStorage(configuration)); // whatever state the store is in that is there
  requirePlace(list, configuration, replace); // a server may have begun and ended meanwhile
  const reached = readCheckpoints(configuration.storage).checkpoints.at(-1)?.last_entry ?? 0;
  const aside = await tellInterrupted('the same command begins anew', () =>
    placeBackup(backup, list, configuration),
  );
  tell(list, { ...configuration, backup, aside, reached, keys: neededKeys(list, configuration) }, json);
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

/** What makes a store in a storage directory. The database first: what is left without it is none. */
const STORE_FILES = [
  SQLITE_FILE,
  `${SQLITE_FILE}-wal`,
  `${SQLITE_FILE}-shm`,
  ...CHECKPOINT_FILES,
  KNOWN_SEAL_FILE,
  PRIVATE_KEY_FILE,
];

function storeFiles(storage: string): string[] {
  return STORE_FILES.filter((name) => existsSync(join(storage, name)));
}

/** The files in `storage` that a backup takes the place of. The private key stays if the backup needs that one and has none. */
function displacedFiles(configuration: Configuration, list: BackupList): string[] {
  const { storage } = configuration;
  const stays = neededKeys(list, configuration).every(
    ({ name, is_there }) => is_there || name !== CHECKPOINT_KEY,
  );
  return storeFiles(storage).filter((name) => !(stays && name === PRIVATE_KEY_FILE));
}

/**
 * Puts a backup in the place of a store whose storage is held: copied, brought up to date and verified before anything that is there
 * moves. Cut short at any moment it leaves what was there, or what a start refuses (`RestoreUnfinished`), or all of the backup.
 * Returns where the old files are, if there were any. Throws `Failure`, `DatabaseError`, the system's errors.
 */
async function placeBackup(
  backup: string,
  list: BackupList,
  configuration: Configuration,
): Promise<string | undefined> {
  const { storage } = configuration;
  let mayGiveUp = !isRestoreUnfinished(configuration);
  const unfinished = restoreFolder(configuration);
  await makeFolder(unfinished);
  try {
    for (const left of readdirSync(unfinished)) await rm(join(unfinished, left), { recursive: true });
    await sync(storage);
    await copyFiles(backup, list, unfinished);
    const copy = join(unfinished, SQLITE_FILE);
    if (list.unverified === undefined) await bringUpToDate(copy, unfinished);
    if (configuration.database_url !== null) {
      await fillPostgres(copy, list, { ...configuration, storage: unfinished });
      for (const name of readdirSync(unfinished))
        if (name.startsWith(SQLITE_FILE)) await rm(join(unfinished, name));
      mayGiveUp = false; // the database is a store from now on, and nothing beside it vouches for it yet
    }
  } catch (error) {
    if (mayGiveUp) await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
  const aside = await placeFiles(unfinished, configuration, list);
  await rm(unfinished, { recursive: true });
  await sync(storage);
  return aside;
}

/** Copies what belongs beside the database, and that on SQLite, held to the list of the backup. */
async function copyFiles(backup: string, list: BackupList, unfinished: string): Promise<void> {
  const total = Object.values(list.files).reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  await withProgressBar('copying', (told) => {
    const onBytes = (bytes: number) => {
      done += bytes;
      told(done, total);
    };
    return requireFiles(backup, list, (name) =>
      copyDurably(join(backup, name), join(unfinished, name), onBytes),
    );
  });
  if (list.unverified !== undefined) return;
  const damage = await readSqliteCopy(join(unfinished, SQLITE_FILE), (copy) => copy.damage());
  if (damage) throw damaged(backup, damage);
}

/**
 * Carries the rows of a backup's copy into the empty database of `database_url`; leaves one that a restore of the same backup has filled.
 * Throws `Failure` where it is neither.
 */
async function fillPostgres(copy: string, list: BackupList, settings: StoreSettings): Promise<void> {
  const database = await openDatabase(settings, () => {});
  await using _opened = atEnd(() => database.close());
  if ((await lookAtTarget(database, 'postgres')) === 'store') {
    if (await holdsStore(database, list).catch(() => false)) return; // where tables of that name are others'
    throw new Failure(
      'the database of database_url is not empty, and nothing in it is replaced: make another, and name that one',
    );
  }
  await withProgressBar('restoring', (told) =>
    readSqliteCopy(copy, ({ snapshot }) => snapshot((view) => carryAll(view, database, list.entries, told))),
  );
}

/** Whether it is the store of the backup, as far as its seals tell. One without seals has no entries. Throws `DatabaseError`. */
async function holdsStore(database: Database, { newest_seal }: BackupList): Promise<boolean> {
  const newest = await newestSeal(database);
  return (newest?.hash ?? null) === newest_seal && (await appliedMigrations(database)).length > 0;
}

/** Brings the copy of a backup up to date, and verifies it against its checkpoints in `folder`. */
async function bringUpToDate(copy: string, folder: string): Promise<void> {
  const database = openSqlite(copy, () => {});
  try {
    await migrate(database);
    await verifying(database, readCheckpoints(folder));
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    throw new Failure(
      `the backup's history is not as it was written: ${error.message}; take another backup; nothing was changed`,
    );
  } finally {
    await database.close();
  }
}

/**
 * Puts what waits in `unfinished` in place, and what is there aside: the database goes first and comes last.
 * Returns where the old files are, if there were any.
 */
async function placeFiles(
  unfinished: string,
  configuration: Configuration,
  list: BackupList,
): Promise<string | undefined> {
  const { storage } = configuration;
  for (const name of storeFiles(unfinished)) await sync(join(unfinished, name));
  await sync(unfinished);
  const aside = await moveAside(storage, displacedFiles(configuration, list));
  for (const name of storeFiles(unfinished).reverse())
    await rename(join(unfinished, name), join(storage, name));
  await sync(storage);
  return aside;
}

/** Every file has both names before the first loses its old one: a database is never parted from its write-ahead log. */
async function moveAside(storage: string, names: readonly string[]): Promise<string | undefined> {
  if (names.length === 0) return undefined;
  const aside = await freshFolder(storage, 'replaced-');
  for (const name of names) await link(join(storage, name), join(aside, name));
  await sync(aside);
  await sync(storage);
  for (const name of names) await unlink(join(storage, name));
  return aside;
}
