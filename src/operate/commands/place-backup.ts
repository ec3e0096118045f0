// Puts the files of a backup in place: copied and verified beside the store first, then renamed, the database last.
import { existsSync, readdirSync } from 'node:fs';
import { link, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CHECKPOINT_FILES, PRIVATE_KEY_FILE, readCheckpoints } from '../../journal/checkpoint.ts';
import { KNOWN_SEAL_FILE } from '../../journal/known-seal.ts';
import { appliedMigrations, newestSeal } from '../../journal/queries.ts';
import { HistoryBroken, verifyHistory } from '../../journal/verify.ts';
import { copyDurably, sync } from '../../lib/durable-files.ts';
import { CarryRefused, lookAtTarget } from '../../store/carry.ts';
import type { Database } from '../../store/database.ts';
import { migrate } from '../../store/migrate.ts';
import {
  isRestoreUnfinished,
  openDatabase,
  restoreFolder,
  SQLITE_FILE,
  type StoreSettings,
} from '../../store/open.ts';
import { openSqlite } from '../../store/sqlite.ts';
import { readSqliteCopy } from '../../store/sqlite-copy.ts';
import { ROW_CHECKS } from '../checks/row-checks.ts';
import type { Configuration } from '../config.ts';
import { type BackupList, damaged, freshFolder, makeFolder, requireFiles } from './backup-folder.ts';
import { carryAll } from './make-backup.ts';
import { CHECKPOINT_KEY, neededKeys } from './node-keys.ts';
import { Failure, withProgressBar } from './terminal.ts';

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
export function displacedFiles(configuration: Configuration, list: BackupList): string[] {
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
export async function placeBackup(
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
  try {
    if ((await lookAtTarget(database, 'postgres')) === 'store') {
      if (await holdsStore(database, list).catch(() => false)) return; // where tables of that name are others'
      throw new Failure(
        'the database of database_url is not empty, and nothing in it is replaced: make another, and name that one',
      );
    }
    await withProgressBar('restoring', (told) =>
      readSqliteCopy(copy, ({ snapshot }) =>
        snapshot((view) => carryAll(view, database, list.entries, told)),
      ),
    );
  } catch (error) {
    throw error instanceof CarryRefused ? new Failure(error.message) : error;
  } finally {
    await database.close();
  }
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
    await withProgressBar('verifying', (onProgress) =>
      verifyHistory(database, readCheckpoints(folder), ROW_CHECKS, { onProgress }),
    );
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
