// Puts the files of a backup in place: copied and verified beside the store first, then renamed, the database last.
import { existsSync } from 'node:fs';
import { link, mkdir, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Configuration, environment } from '../config.ts';
import type { Database } from '../database/database.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase, SQLITE_FILE } from '../database/open.ts';
import { restorePostgres } from '../database/postgres-dump.ts';
import { readSchema } from '../database/schema.ts';
import { CHECKPOINT_FILES, readCheckpoints } from '../journal/checkpoint.ts';
import { HistoryBroken, verifyHistory } from '../journal/verify.ts';
import { copyDurably, sync } from '../lib/durable-files.ts';
import { systemClock } from '../lib/time.ts';
import { ROW_CHECKS } from '../payments/row-checks.ts';
import { type BackupList, backupName, DATABASE_FILE } from './backup-folder.ts';
import { Failure, progressBar } from './terminal.ts';

/** What makes a store in a storage directory. The database first: what is left without it is none. */
const STORE_FILES = [SQLITE_FILE, `${SQLITE_FILE}-wal`, `${SQLITE_FILE}-shm`, ...CHECKPOINT_FILES];
const UNFINISHED = '.restoring';

/** The files of a store that are in `storage`. */
export function storeFiles(storage: string): string[] {
  return STORE_FILES.filter((name) => existsSync(join(storage, name)));
}

/**
 * Copies a backup beside the store, brings its schema up to date and verifies it; on PostgreSQL the dump goes into the database.
 * Returns where the files wait for `placeFiles`. Raises `Failure`, `DatabaseError`, `PostgresToolFailed`, the system's errors.
 */
export async function bringIn(
  backup: string,
  { engine, files }: BackupList,
  configuration: Configuration,
): Promise<string> {
  const unfinished = join(configuration.storage, UNFINISHED);
  await rm(unfinished, { recursive: true, force: true }); // of one that was killed
  await mkdir(unfinished, { mode: 0o700 });
  try {
    for (const name of Object.keys(files) as (keyof typeof files)[]) {
      if (name !== DATABASE_FILE.postgres) await copyDurably(join(backup, name), join(unfinished, name));
    }
    const settings = { ...configuration, storage: unfinished };
    if (engine === 'postgres') await fillDatabase(configuration, join(backup, DATABASE_FILE.postgres));
    const database = await openDatabase(settings, () => {});
    try {
      await migrate(database);
      await verify(database, unfinished);
    } finally {
      await database.close();
    }
    return unfinished;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** Fills the database of a configuration from a dump. Raises `Failure` where anything of a store is in it. */
async function fillDatabase(configuration: Configuration, dump: string): Promise<void> {
  const url = configuration.database_url!;
  const database = await openDatabase(configuration, () => {});
  try {
    const found = await database.snapshot((view) => readSchema(view, 'postgres'));
    if (found.length > 0)
      throw new Failure(
        'the database of database_url is not empty, and nothing in it is replaced: make another, and name that one',
      );
  } finally {
    await database.close();
  }
  await restorePostgres({ url, environment }, dump);
}

/** Raises `Failure` where what is about to be put in place is not as it was written. */
async function verify(database: Database, storage: string): Promise<void> {
  const bar = progressBar('verifying');
  try {
    await verifyHistory(database, readCheckpoints(storage), ROW_CHECKS, { onProgress: bar.update });
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    const where =
      database.engine === 'postgres'
        ? 'the database that was empty holds it now: drop it, and take another backup'
        : 'take another backup; nothing was changed';
    throw new Failure(`the backup's history is not as it was written: ${error.message}; ${where}`);
  } finally {
    bar.clear();
  }
}

/**
 * Puts what `bringIn` left in place, and what is there aside. Whenever it is cut short there is a whole store or none: the
 * database goes first and comes last. Returns where the old files are, if there were any. Raises the system's errors.
 */
export async function placeFiles(unfinished: string, storage: string): Promise<string | undefined> {
  for (const name of storeFiles(unfinished)) await sync(join(unfinished, name));
  const aside = await moveAside(storage);
  for (const name of storeFiles(unfinished).reverse())
    await rename(join(unfinished, name), join(storage, name));
  await sync(storage);
  await rm(unfinished, { recursive: true });
  return aside;
}

/** Every file has both names before the first loses its old one: a database is never parted from its write-ahead log. */
async function moveAside(storage: string): Promise<string | undefined> {
  const names = storeFiles(storage);
  if (names.length === 0) return undefined;
  const aside = join(storage, `replaced-${backupName(systemClock.now())}`);
  await mkdir(aside, { mode: 0o700 });
  for (const name of names) await link(join(storage, name), join(aside, name));
  await sync(aside);
  await sync(storage);
  for (const name of names) await unlink(join(storage, name));
  return aside;
}
