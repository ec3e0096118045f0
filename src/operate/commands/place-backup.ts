// Puts the files of a backup in place: copied and verified beside the store first, then renamed, the database last.
import { existsSync, readdirSync } from 'node:fs';
import { link, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CHECKPOINT_FILES, PRIVATE_KEY_FILE, readCheckpoints } from '../../journal/checkpoint.ts';
import { appliedMigrations, newestSeal } from '../../journal/queries.ts';
import { HistoryBroken, verifyHistory } from '../../journal/verify.ts';
import { copyDurably, digestFile, sync } from '../../lib/durable-files.ts';
import type { Database } from '../../store/database.ts';
import { migrate } from '../../store/migrate.ts';
import {
  isRestoreUnfinished,
  openDatabase,
  restoreFolder,
  SQLITE_FILE,
  type StoreSettings,
} from '../../store/open.ts';
import { restorePostgres } from '../../store/postgres-dump.ts';
import { readSchema } from '../../store/schema.ts';
import { readSqliteCopy } from '../../store/sqlite-copy.ts';
import { strangeTables } from '../../store/strange-tables.ts';
import { ROW_CHECKS } from '../checks/row-checks.ts';
import { type Configuration, environment } from '../config.ts';
import {
  type BackupList,
  DATABASE_FILE,
  damaged,
  freshFolder,
  makeFolder,
  requireFiles,
} from './backup-folder.ts';
import { CHECKPOINT_KEY, neededKeys } from './node-keys.ts';
import { Failure, withProgressBar } from './terminal.ts';

/** What makes a store in a storage directory. The database first: what is left without it is none. */
const STORE_FILES = [
  SQLITE_FILE,
  `${SQLITE_FILE}-wal`,
  `${SQLITE_FILE}-shm`,
  ...CHECKPOINT_FILES,
  PRIVATE_KEY_FILE, // in backups of earlier versions
];

/** The files of a store that are in `storage`. */
function storeFiles(storage: string): string[] {
  return STORE_FILES.filter((name) => existsSync(join(storage, name)));
}

/** The files in `storage` that a backup takes the place of. The private key stays if the backup needs that one and has none. */
export function displacedFiles(configuration: Configuration, list: BackupList): string[] {
  const { storage } = configuration;
  const holdsKey = list.files[PRIVATE_KEY_FILE] !== undefined;
  const stays =
    !holdsKey &&
    list.keys !== undefined &&
    neededKeys(list, configuration).every(({ name, is_there }) => is_there || name !== CHECKPOINT_KEY);
  return storeFiles(storage).filter((name) => !(stays && name === PRIVATE_KEY_FILE));
}

/**
 * Puts a backup in the place of a store whose storage is held: copied, brought up to date and verified before anything that is there
 * moves. Cut short at any moment it leaves what was there, or what a start refuses (`RestoreUnfinished`), or all of the backup.
 * Returns where the old files are, if there were any. Throws `Failure`, `DatabaseError`, `PostgresToolFailed`, the system's errors.
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
    const settings = { ...configuration, storage: unfinished };
    if (list.engine === 'postgres') {
      await requireEmptyOrOurs(settings, list, async () => {
        mayGiveUp = false; // the database may be filled from now on, and nothing here vouches for it yet
        const target = { url: configuration.database_url!, environment };
        await restorePostgres(target, join(backup, DATABASE_FILE.postgres));
      });
    }
    if (list.unverified === undefined) await bringUpToDate(settings, list.engine);
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
      name === DATABASE_FILE.postgres
        ? digestFile(join(backup, name), onBytes)
        : copyDurably(join(backup, name), join(unfinished, name), onBytes),
    );
  });
  if (list.engine === 'postgres' || list.unverified !== undefined) return;
  const damage = await readSqliteCopy(join(unfinished, SQLITE_FILE), (copy) => copy.damage());
  if (damage) throw damaged(backup, damage);
}

/** Fills an empty database; leaves one that a restore of the same backup has filled. Throws `Failure` where it is neither. */
async function requireEmptyOrOurs(
  settings: StoreSettings,
  list: BackupList,
  fill: () => Promise<void>,
): Promise<void> {
  const database = await openDatabase(settings, () => {});
  try {
    const found = await database.snapshot((view) => readSchema(view, 'postgres'));
    if (found.length > 0) {
      if (await holdsStore(database, list).catch(() => false)) return; // where tables of that name are others'
      throw new Failure(
        'the database of database_url is not empty, and nothing in it is replaced: make another, and name that one',
      );
    }
    const strange = await strangeTables(database);
    if (strange) throw new Failure(strange);
  } finally {
    await database.close();
  }
  await fill();
}

/** Whether it is the store of the backup, as far as its seals tell. One without seals has no entries. Throws `DatabaseError`. */
async function holdsStore(database: Database, { newest_seal }: BackupList): Promise<boolean> {
  const newest = await newestSeal(database);
  return (newest?.hash ?? null) === newest_seal && (await appliedMigrations(database)).length > 0;
}

/** Brings what is about to be put in place up to date, and verifies it. */
async function bringUpToDate(settings: StoreSettings, engine: BackupList['engine']): Promise<void> {
  const database = await openDatabase(settings, () => {});
  try {
    await migrate(database);
    const reading = readCheckpoints(settings.storage);
    await withProgressBar('verifying', (onProgress) =>
      verifyHistory(database, reading, ROW_CHECKS, { onProgress }),
    );
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    const where =
      engine === 'postgres'
        ? 'the database that was empty holds it now: drop it, and take another backup'
        : 'take another backup; nothing was changed';
    throw new Failure(`the backup's history is not as it was written: ${error.message}; ${where}`);
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
