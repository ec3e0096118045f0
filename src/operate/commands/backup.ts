// counterfoil backup: copies a store as it is at one moment, beside its server, and verifies the copy before it counts.
import { existsSync, mkdirSync } from 'node:fs';
import { rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Command, Option } from 'commander';
import { CHECKPOINT_FILES, readCheckpoints } from '../../journal/checkpoint.ts';
import { lostKey } from '../../journal/checkpoint-signer.ts';
import { storedSecretKeys } from '../../journal/keys/open-ring.ts';
import { appliedMigrations, findSeal, newestSeal } from '../../journal/queries.ts';
import { withKnown } from '../../journal/rows.ts';
import { HistoryBroken, type Verification } from '../../journal/verify.ts';
import { copyDurably, digestFile } from '../../lib/durable-files.ts';
import { counted } from '../../lib/text.ts';
import { formatTimestamp, monotonicMs, SECOND_MS, systemClock } from '../../lib/time.ts';
import { VERSION } from '../../lib/version.ts';
import { carry, waitIdle } from '../../store/carry.ts';
import { type Database, DatabaseError, type Reader } from '../../store/database.ts';
import { knownMigrations } from '../../store/migrate.ts';
import { lockStore, openDatabase, prepareStorage, SQLITE_FILE } from '../../store/open.ts';
import { copySqlite, fillSqlite, readSqliteCopy } from '../../store/sqlite-copy.ts';
import type { Configuration } from '../config.ts';
import {
  type BackupList,
  backupNames,
  beginBackup,
  deleteAbandoned,
  deleteOldest,
  finishBackup,
  requireElsewhere,
  requireSameStore,
} from './backup-folder.ts';
import { secretsKeyIds } from './secrets.ts';
import { configured, type StoreOptions, verifying } from './store.ts';
import { atEnd, Failure, print, shownPath, tellInterrupted, withProgressBar } from './terminal.ts';
import { parseCount, parseFolder } from './usage.ts';

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
      parseCount(KEEP_MAXIMUM),
    )
    .addOption(
      new Option(
        '--unverified',
        'keep a copy that does not verify as well, marked so; restore takes it only with the same option',
      ).conflicts('keep'),
    )
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

async function backUp(folder: string, options: Options): Promise<void> {
  const { keep, unverified = false, json } = options;
  const begun = monotonicMs();
  const configuration = configured(options.config);
  const parent = await prepareFolder(folder, configuration);
  await using _held = atEnd(holdBackups(configuration));
  await deleteAbandoned(parent);
  const { path, list } = await tellInterrupted(
    'nothing of it counts; a backup that is made half a day from now, or later, removes what it left',
    () => makeBackup(parent, configuration, unverified),
  );
  const deleted = keep === undefined ? [] : await deleteOldest(parent, keep, basename(path));
  warnOfTimeToCome(parent, basename(path));
  const lost = lostKey(configuration.storage);
  if (lost) console.error(`counterfoil: no server will start on what this backup restores: ${lost}`);
  tell(path, list, deleted, (monotonicMs() - begun) / SECOND_MS, json);
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

/**
 * Makes one backup, whole or not at all. One that does not verify is kept only if it may be `unverified`, and marked so. Throws `Failure`,
 * `DatabaseError`, the system's errors.
 */
async function makeBackup(
  folder: string,
  configuration: Configuration,
  unverified: boolean,
): Promise<{ path: string; list: BackupList }> {
  const { name, unfinished } = await beginBackup(folder);
  try {
    const files: BackupList['files'] = {};
    // The checkpoints first: a database copied before them might not reach as far as they do, and would be taken for one put back.
    for (const file of CHECKPOINT_FILES) {
      const from = join(configuration.storage, file);
      if (existsSync(from)) files[file] = await copyDurably(from, join(unfinished, file));
    }
    const { engine, secrets, ...found } = await copyDatabase(configuration, unfinished, unverified);
    const keys = {
      checkpoint: readCheckpoints(unfinished).key ?? null,
      secrets: secrets ?? secretsKeyIds(configuration),
    };
    files[SQLITE_FILE] = await digestFile(join(unfinished, SQLITE_FILE));
    const list: BackupList = {
      made_at: formatTimestamp(systemClock.now()),
      version: VERSION,
      engine,
      storage: configuration.storage,
      ...found,
      keys,
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
/** What is known of a copy. `secrets`: the ids of the keys that the store counts; undefined if it cannot be read. */
type Examined = HistoryFacts & Pick<BackupList, 'unverified' | 'acknowledged'> & { secrets?: string[] };

async function copyDatabase(
  configuration: Configuration,
  unfinished: string,
  unverified: boolean,
): Promise<{ engine: 'sqlite' | 'postgres' } & Examined> {
  const { database_url, storage } = configuration;
  const source = join(storage, SQLITE_FILE);
  if (database_url === null) await requireRoom(unfinished, [source, `${source}-wal`]);
  await withProgressBar('copying', (told) =>
    database_url === null
      ? copySqlite(source, join(unfinished, SQLITE_FILE), told)
      : carryOut(configuration, unfinished, told),
  );
  const examined = await readSqliteCopy(join(unfinished, SQLITE_FILE), async (view) => {
    const damage = await view.damage();
    return view.snapshot((state) => examine(state, unfinished, unverified, damage));
  });
  return { engine: database_url === null ? 'sqlite' : 'postgres', ...examined };
}

async function carryOut(
  configuration: Configuration,
  unfinished: string,
  told: (done: number, total: number) => void,
): Promise<void> {
  const database = await openDatabase(configuration, () => {});
  await using _opened = atEnd(() => database.close());
  await database.snapshot(async (view) => {
    await schemaVersion(view);
    await waitIdle(view);
    const entries = (await newestSeal(view))?.last_entry ?? 0;
    await fillSqlite(join(unfinished, SQLITE_FILE), (target) => carryAll(view, target, entries, told));
  });
}

/** Carries all rows of a store with so many entries. `told` hears how far it is. Throws `CarryRefused`, `DatabaseError`. */
export function carryAll(
  view: Reader,
  target: Database,
  entries: number,
  told: (done: number, total: number) => void,
): Promise<void> {
  const total = 2 * entries; // about as many as there are rows
  let done = 0;
  const onRows = (rows: number) => {
    done += rows;
    told(Math.min(done, total), total);
  };
  return carry(view, target, { onRows, judge: async () => {} });
}

/**
 * How far the history of a copy goes, verified against the copied checkpoints. `damage` is what the engine found. Throws `Failure`
 * if the copy is not as it was written, unless it may be `unverified`.
 */
async function examine(
  view: Reader,
  unfinished: string,
  unverified: boolean,
  damage?: string,
): Promise<Examined> {
  try {
    const facts = await readFacts(view);
    if (damage) throw new Failure(`the database is damaged, and so is its copy: ${damage}`);
    const { acknowledged } = await requireVerified(view, unfinished);
    return { ...facts, acknowledged };
  } catch (error) {
    const isFault = error instanceof Failure || error instanceof DatabaseError;
    if (!isFault || error instanceof NoStore) throw error;
    if (unverified) return { ...(await readFacts(view).catch(() => UNKNOWN)), unverified: error.message };
    if (error instanceof DatabaseError) throw error;
    throw new Failure(
      `${error.message}. The copy was not kept. See counterfoil audit verify; --unverified keeps one all the same`,
    );
  }
}

/** Returns what was verified. Throws `Failure` if the history is not as it was written, `DatabaseError`. */
async function requireVerified(view: Reader, unfinished: string): Promise<Verification> {
  try {
    const reading = readCheckpoints(unfinished);
    const database = {
      engine: 'sqlite' as const,
      snapshot: <T>(work: (state: Reader) => Promise<T>) => work(view),
    };
    return await verifying(database, reading);
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    throw new Failure(`the history is not as it was written: ${error.message}`);
  }
}

/** The report about a history that cannot be read. */
const UNKNOWN: HistoryFacts = {
  schema: knownMigrations().length,
  entries: 0,
  seals: 0,
  newest_entry_at: null,
  first_seal: null,
  newest_seal: null,
};

/** How far a history goes, as it says itself. Throws `Failure`, `DatabaseError`. */
async function readFacts(view: Reader): Promise<HistoryFacts & { secrets: string[] }> {
  const schema = await schemaVersion(view);
  const [first, newest] = [await findSeal(view, 1), await newestSeal(view)];
  return {
    schema,
    entries: newest?.last_entry ?? 0,
    seals: newest?.number ?? 0,
    newest_entry_at: newest ? formatTimestamp(newest.at) : null,
    first_seal: first?.hash ?? null,
    newest_seal: newest?.hash ?? null,
    secrets: (await storedSecretKeys(view)).flatMap(({ id, removed_at }) =>
      removed_at === null ? [id] : [],
    ),
  };
}

class NoStore extends Failure {}

/** How many migrations a store has seen. Throws `Failure` if that is not what this program knows, or there is no store. */
async function schemaVersion(view: Reader): Promise<number> {
  const known = knownMigrations().length;
  try {
    const { length: schema } = await appliedMigrations(view);
    if (schema === known) return schema;
    throw new Failure(
      `the store's schema is of version ${schema}, this program's is ${known}: back it up with the program that serves it`,
    );
  } catch (error) {
    if (error instanceof DatabaseError && error.lacksTable)
      throw new NoStore('the database holds no store: nothing was ever served from here');
    throw error;
  }
}

/** Throws `Failure` where the disk of `folder` has no room for `files`. */
async function requireRoom(folder: string, files: readonly string[]): Promise<void> {
  let needed = 0;
  for (const file of files) if (existsSync(file)) needed += (await stat(file)).size;
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < needed)
    throw new Failure(
      `there is no room in ${shownPath(dirname(folder))}: ${inKilobytes(needed, Math.ceil)} are needed, ${inKilobytes(bavail * bsize, Math.floor)} are free`,
    );
}

const inKilobytes = (bytes: number, round: (kilobytes: number) => number) =>
  `${round(bytes / 1024).toLocaleString('en')} KB`;
