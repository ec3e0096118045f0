// Opens the store that the configuration names: private to this account, held by one server, with room to write.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  readdirSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncNow, useFile } from '../lib/durable-files.ts';
import { type Database, DatabaseError, StoreUnfit } from './database.ts';
import type { HostGuard } from './postgres-hosts.ts';
import { type Holder, holderOf } from './rescue.ts';
import { openSqlite } from './sqlite.ts';
import {
  asDatabaseError,
  asOpeningError,
  Connection,
  isBusy,
  isNoDatabase,
  NO_ROOM_FOR_INDEX,
} from './sqlite-connection.ts';

export const SQLITE_FILE = 'counterfoil.sqlite';
const LOCK_FILE = 'server.lock';

/** The storage directory can be read by other accounts of the machine. */
export class StorageExposed extends Error {
  override readonly name = 'StorageExposed';
}

/** In a storage directory for as long as a restore into it is unfinished: what is to be put in place, or is being put there. */
const RESTORE_FOLDER = '.restoring';

/** A restore was begun and has not ended: what is there is part of a store. */
export class RestoreUnfinished extends Error {
  override readonly name = 'RestoreUnfinished';
}

/** Makes the private storage directory, mode 0700. Throws `StorageExposed` where one is there that others may enter. */
export function prepareStorage(directory: string): void {
  const made = mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (made) syncNames(resolve(made), resolve(directory));
  const exposed = exposedIn(directory);
  if (exposed) throw new StorageExposed(`${exposed} can be read by others. Run: chmod -R go= ${directory}`);
}

/** Puts on disk the names of the directories from `first` down to `last`: a power cut takes a nameless one with all that is in it. */
function syncNames(first: string, last: string): void {
  for (let named = last; named.length >= first.length; named = dirname(named)) syncNow(dirname(named));
}

/** The storage directory, or the first of its files, that others may use; undefined where all is private. */
export function exposedIn(directory: string): string | undefined {
  return [directory, ...readdirSync(directory).map((file) => join(directory, file))].find(
    // A write-ahead log may go as we look: its server has just stopped.
    (path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  );
}

export interface StoreSettings {
  storage: string;
  database_url: string | null;
}

/** Where a restore into a storage directory keeps what is not in place yet. */
export function restoreFolder({ storage }: Pick<StoreSettings, 'storage'>): string {
  return join(storage, RESTORE_FOLDER);
}

/** Whether a restore was cut short where a start would now find no store, or a part of one. */
export function isRestoreUnfinished(settings: StoreSettings): boolean {
  if (!existsSync(restoreFolder(settings))) return false;
  // A SQLite database leaves its place first and comes last: where one is, it is whole, the old or the new.
  return settings.database_url !== null || !existsSync(join(settings.storage, SQLITE_FILE));
}

function refuseUnfinishedRestore(settings: StoreSettings): void {
  if (isRestoreUnfinished(settings))
    throw new RestoreUnfinished(
      `a restore into ${settings.storage} is unfinished: run the same counterfoil restore again, which begins anew`,
    );
}

/**
 * Whether there is a store to open: always where PostgreSQL holds it, which says itself what it lacks.
 * Throws `RestoreUnfinished`.
 */
export function storeExists(settings: StoreSettings): boolean {
  refuseUnfinishedRestore(settings);
  return settings.database_url !== null || existsSync(join(settings.storage, SQLITE_FILE));
}

/** Whether a server has served from a storage directory before, or a command has made a SQLite store in it. */
export function hasStarted({ storage, database_url }: StoreSettings): boolean {
  return existsSync(join(storage, database_url === null ? SQLITE_FILE : LOCK_FILE));
}

/**
 * Opens PostgreSQL where a `database_url` is set, else SQLite in the storage directory. A server that runs for long has a
 * `guard`, which is asked before each connection to PostgreSQL is used, and told where a file of SQLite is not in its place.
 * `answerMs`: how long it waits for an answer of PostgreSQL. Throws `RestoreUnfinished`, `DatabaseError`.
 */
export async function openDatabase(
  settings: StoreSettings,
  onBroken: (error: Error) => void,
  guard?: HostGuard,
  answerMs?: number,
): Promise<Database> {
  refuseUnfinishedRestore(settings);
  if (settings.database_url) {
    const { openPostgres } = await import('./postgres.ts'); // a store in SQLite needs no client of PostgreSQL
    return openPostgres(settings.database_url, guard, answerMs);
  }
  prepareStorage(settings.storage);
  const watch = (fault: string | undefined) => guard?.onFiles?.(fault);
  return withReserve(settings.storage, () =>
    openSqlite(join(settings.storage, SQLITE_FILE), onBroken, watch),
  );
}

/**
 * Keeps a second server off a storage directory, and so off a SQLite store; nodes that share PostgreSQL have one each, since each
 * signs checkpoints of its own. Returns the release. Throws `DatabaseError` (`unavailable`) when another server holds it.
 */
export function holdStore(settings: StoreSettings): () => void {
  const release = holdStorage(settings);
  try {
    if (settings.database_url === null) {
      withReserve(settings.storage, () => rewriteLog(join(settings.storage, SQLITE_FILE)));
      keepReserve(settings.storage);
    }
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/** The server that has a storage directory's SQLite store open, as far as this account can tell. */
export function sqliteHolder({ storage }: Pick<StoreSettings, 'storage'>): Holder | undefined {
  return holderOf(join(storage, LOCK_FILE), join(storage, SQLITE_FILE));
}

/** The lock of a storage directory where it is damaged, or undefined: a lock is an empty file. Opens nothing, which would drop a lock. */
export function damagedLock(storage: string): string | undefined {
  const file = join(storage, LOCK_FILE);
  return statSync(file, { throwIfNoEntry: false })?.size ? file : undefined;
}

/** Holds a storage directory as a server does, and looks at nothing in it. Returns and throws what `holdStore` does. */
export function holdStorage({ storage }: Pick<StoreSettings, 'storage'>): () => void {
  prepareStorage(storage);
  return lockStore(join(storage, LOCK_FILE));
}

/** The index of the write-ahead log takes 32 KiB, and more where a crash left a long log. */
const RESERVE_BYTES = 256 * 1024;
const RESERVE_PIECE_BYTES = 4096;
const FULL = 13;

const reserveOf = (storage: string) => join(storage, 'reserve');

/** Fills the reserve as far as there is room. Throws the system's errors, but for a disk that is full. */
function keepReserve(storage: string): void {
  const file = reserveOf(storage);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= RESERVE_BYTES) return;
  try {
    useFile(file, 'a', (descriptor) => {
      // In pieces, so that a disk that is nearly full takes some of them.
      for (let kept = size; kept < RESERVE_BYTES; kept += RESERVE_PIECE_BYTES)
        writeSync(descriptor, randomBytes(RESERVE_PIECE_BYTES)); // random: a file system that compresses keeps as much room
    });
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code!)) throw error;
  }
}

/**
 * What `open` returns. Where the disk has no room for it, it is called again with the room of the reserve. Throws what `open` does, and
 * `StoreUnfit` where that room is no help: on a disk that root filled, ext4 gives what becomes free to root alone.
 */
function withReserve<T>(storage: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!isForRoom(error)) throw error;
    if (existsSync(reserveOf(storage))) giveBack(reserveOf(storage));
    try {
      return open();
    } catch (again) {
      throw isForRoom(again) ? noRoom(storage) : again;
    } finally {
      keepReserve(storage);
    }
  }
}

const noRoom = (storage: string) =>
  new StoreUnfit(
    `the disk of ${storage} has no room for this account, also where root may still write: make room, then start (docs/operating/runbook.md, "The disk is full")`,
  );

/** Empties a file, and waits until others can have its room: ext4 gives it to them with the next commit of its journal. */
function giveBack(file: string): void {
  useFile(file, 'r+', (descriptor) => {
    ftruncateSync(descriptor);
    fsyncSync(descriptor);
  });
}

function isForRoom(error: unknown): boolean {
  const { errcode } = (error instanceof DatabaseError ? error.cause : error) as { errcode?: number };
  return errcode === FULL || errcode === NO_ROOM_FOR_INDEX;
}

const LOG_PIECE_BYTES = 1024 * 1024;

/**
 * Writes the log of the database in `file` over itself, and syncs it. Because: after a failed sync the system takes pages that it could
 * not write for written. A start would read from memory what the disk does not hold, and append new commits, which a power cut would take
 * with it. There must be no other writer. Throws `DatabaseError`, and the system's errors.
 */
function rewriteLog(file: string): void {
  const log = `${file}-wal`;
  if (!existsSync(file) || !existsSync(log)) return;
  try {
    const connection = new Connection(file, { readOnly: false });
    try {
      connection.raw.exec('begin immediate');
      if (existsSync(log)) writeOver(log); // SQLite takes away one that belongs to no database
    } finally {
      connection.raw.close(); // folds the log back into the database
    }
  } catch (error) {
    throw asOpeningError(error, file);
  }
}

function writeOver(file: string): void {
  useFile(file, 'r+', (descriptor) => {
    const piece = Buffer.alloc(LOG_PIECE_BYTES);
    for (let at = 0; ; ) {
      const bytes = readSync(descriptor, piece, 0, LOG_PIECE_BYTES, at);
      if (bytes === 0) break;
      at += writeSync(descriptor, piece, 0, bytes, at);
    }
    fsyncSync(descriptor);
  });
}

/** What the largest batch takes where each of its 256 works changes four pages that no other one does. */
const COMMIT_BYTES = 256 * 4 * 4096;

/**
 * True as well where the disk is another machine's: PostgreSQL says itself, with the next commit, that its own is full. Throws the
 * system's errors.
 */
export async function hasRoom({ storage, database_url }: StoreSettings): Promise<boolean> {
  return database_url !== null || (await freeBytes(storage)) >= COMMIT_BYTES;
}

/** What this account may still write where `storage` lies. Throws the system's errors. */
export async function freeBytes(storage: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(storage);
  // Some file systems keep the last of their room for root.
  return (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
}

/**
 * Holds a store for one server: an exclusive lock on `file` that the operating system drops when the process ends, however
 * it ends. Throws `DatabaseError` (`unavailable`) when another process holds it, and `StoreUnfit` if the file is damaged. Returns the
 * release.
 */
export function lockStore(file: string): () => void {
  try {
    const lock = new DatabaseSync(file, { timeout: 0 });
    chmodSync(file, 0o600);
    // A rollback journal would need room on the disk.
    lock.exec('pragma locking_mode = exclusive; pragma journal_mode = memory; begin exclusive');
    return () => lock.close();
  } catch (error) {
    if (isBusy(error))
      throw new DatabaseError('unavailable', `another server holds the store (${file}): stop it first`);
    if (isNoDatabase(error))
      throw new StoreUnfit(`${file} is damaged. It holds nothing but the lock: remove it, and start again`);
    throw asDatabaseError(error);
  }
}
