// Makes one backup: the checkpoints, then the database as it is at one moment, verified before the folder gets its name.
import { existsSync } from 'node:fs';
import { rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Configuration, environment } from '../config.ts';
import { DatabaseError } from '../database/database.ts';
import { knownMigrations } from '../database/migrate.ts';
import { openDatabase, SQLITE_FILE } from '../database/open.ts';
import { dumpPostgres } from '../database/postgres-dump.ts';
import { copySqlite, readSqliteCopy } from '../database/sqlite-copy.ts';
import { CHECKPOINT_FILES, readCheckpoints } from '../journal/checkpoint.ts';
import { appliedMigrations, findSeal, newestSeal } from '../journal/queries.ts';
import { HistoryBroken, type View, verifyHistory } from '../journal/verify.ts';
import { copyDurably, digestFile } from '../lib/durable-files.ts';
import { formatTimestamp, systemClock } from '../lib/time.ts';
import { VERSION } from '../lib/version.ts';
import { ROW_CHECKS } from '../payments/row-checks.ts';
import {
  type BackupList,
  beginBackup,
  DATABASE_FILE,
  finishBackup,
  requireSameStore,
} from './backup-folder.ts';
import { Failure, shownPath, withProgressBar } from './terminal.ts';

/** Makes one backup, whole or not at all. Raises `Failure`, `DatabaseError`, `PostgresToolFailed`, the system's errors. */
export async function makeBackup(
  folder: string,
  configuration: Configuration,
): Promise<{ path: string; list: BackupList }> {
  const { name, unfinished } = await beginBackup(folder);
  try {
    const files: BackupList['files'] = {};
    // The checkpoints first: a database copied before them might not reach as far as they do, and would be taken for one put back.
    for (const file of CHECKPOINT_FILES) {
      const from = join(configuration.storage, file);
      if (existsSync(from)) files[file] = await copyDurably(from, join(unfinished, file));
    }
    const { engine, history } = await copyDatabase(configuration, unfinished);
    const file = DATABASE_FILE[engine];
    files[file] = await digestFile(join(unfinished, file));
    const list: BackupList = {
      made_at: formatTimestamp(systemClock.now()),
      version: VERSION,
      engine,
      storage: configuration.storage,
      ...history,
      files,
    };
    requireSameStore(folder, list);
    return { path: await finishBackup(folder, name, list), list };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

type HistoryFacts = Pick<
  BackupList,
  'schema' | 'entries' | 'seals' | 'newest_entry_at' | 'first_seal' | 'newest_seal'
>;

async function copyDatabase(
  configuration: Configuration,
  unfinished: string,
): Promise<{ engine: 'sqlite' | 'postgres'; history: HistoryFacts }> {
  const { database_url, storage } = configuration;
  if (database_url !== null) {
    const history = await dumpDatabase(configuration, database_url, unfinished);
    return { engine: 'postgres', history };
  }
  const source = join(storage, SQLITE_FILE);
  const copy = join(unfinished, DATABASE_FILE.sqlite);
  await requireRoom(unfinished, [source, `${source}-wal`]);
  await withProgressBar('copying', (told) => copySqlite(source, copy, told));
  const history = await readSqliteCopy(copy, async (view) => {
    const damage = await view.damage();
    if (damage)
      throw new Failure(`the database is damaged, and so is its copy, which was not kept: ${damage}`);
    return view.snapshot((state) => examine(state, 'sqlite', unfinished));
  });
  return { engine: 'sqlite', history };
}

/** What is dumped is the very state that is verified. */
async function dumpDatabase(
  configuration: Configuration,
  url: string,
  unfinished: string,
): Promise<HistoryFacts> {
  const database = await openDatabase(configuration, () => {});
  try {
    return await database.snapshot(async (view) => {
      await dumpPostgres({ url, environment }, view, join(unfinished, DATABASE_FILE.postgres));
      return examine(view, 'postgres', unfinished);
    });
  } finally {
    await database.close();
  }
}

/** How far the history of a copy goes, verified against the copied checkpoints. Raises `Failure` where it is not as it was written. */
async function examine(view: View, engine: 'sqlite' | 'postgres', unfinished: string): Promise<HistoryFacts> {
  const schema = await schemaVersion(view);
  if (schema !== knownMigrations().length)
    throw new Failure(
      `the store's schema is of version ${schema}, this program's is ${knownMigrations().length}: back it up with the program that serves it`,
    );
  try {
    const database = { engine, snapshot: <T>(work: (state: View) => Promise<T>) => work(view) };
    const reading = readCheckpoints(unfinished);
    await withProgressBar('verifying', (onProgress) =>
      verifyHistory(database, reading, ROW_CHECKS, { onProgress }),
    );
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    throw new Failure(
      `the history is not as it was written, and the copy was not kept: ${error.message}. See counterfoil audit verify`,
    );
  }
  const [first, newest] = [await findSeal(view, 1), await newestSeal(view)];
  return {
    schema,
    entries: newest?.last_entry ?? 0,
    seals: newest?.number ?? 0,
    newest_entry_at: newest ? formatTimestamp(newest.at) : null,
    first_seal: first?.hash ?? null,
    newest_seal: newest?.hash ?? null,
  };
}

/** How many migrations a store has seen. Raises `Failure` where it is none. */
async function schemaVersion(view: View): Promise<number> {
  try {
    return (await appliedMigrations(view)).length;
  } catch (error) {
    if (error instanceof DatabaseError && error.lacksTable)
      throw new Failure('the database holds no store: nothing was ever served from here');
    throw error;
  }
}

/** Raises `Failure` where the disk of `folder` has no room for `files`. */
async function requireRoom(folder: string, files: readonly string[]): Promise<void> {
  let needed = 0;
  for (const file of files) if (existsSync(file)) needed += (await stat(file)).size;
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < needed)
    throw new Failure(
      `there is no room in ${shownPath(dirname(folder))}: ${inMegabytes(needed)} are needed, ${inMegabytes(bavail * bsize)} are free`,
    );
}

const inMegabytes = (bytes: number) => `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
