// A backup as it lies: a folder named by its moment, with the store's files and a list of them, made whole or not at all.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { CHECKPOINT_FILES } from '../../journal/checkpoint.ts';
import { type FileDigest, sync, writeDurably } from '../../lib/durable-files.ts';
import { formatTimestamp, HOUR_MS, systemClock } from '../../lib/time.ts';
import { SQLITE_FILE } from '../../store/open.ts';
import { existing } from '../checks/machine-checks.ts';
import { Failure, shownPath } from './terminal.ts';

const LIST = 'backup.json';
/** Prefix of folders that are unfinished or being deleted. No backup's name begins with it. */
const UNFINISHED = '.unfinished-';
/** Age from which an unfinished folder is abandoned. Because a process of another node or machine cannot be asked. */
const ABANDONED_AFTER_MS = 12 * HOUR_MS;
/** Between two looks for a moment that no folder is named by. */
const NAME_PAUSE_MS = 100;
const FINISHED = /^\d{4}-\d\d-\d\dT\d{6}Z$/;

const listSchema = z.object({
  /** `2026-11-21T04:17:00+00:00` */
  made_at: z.string(),
  /** Of the program that made it. */
  version: z.string(),
  /** That the store was on. Either can be restored from it. */
  engine: z.enum(['sqlite', 'postgres']),
  /** Of the storage whose backup it is. */
  storage: z.string(),
  schema: z.int(),
  entries: z.int(),
  seals: z.int(),
  /** When the newest entry was made, or null. */
  newest_entry_at: z.string().nullable(),
  /** The hash of the first seal, or null. It identifies a store for ever. */
  first_seal: z.string().nullable(),
  /** The hash of the newest seal, or null. It vouches for all before it. */
  newest_seal: z.string().nullable(),
  /** The names of the keys that what it restores needs. */
  keys: z.object({ checkpoint: z.string().nullable(), secrets: z.array(z.string()) }),
  /** What was found wrong with it. Undefined if it was verified. */
  unverified: z.string().optional(),
  /** How many faults of the store an operator had acknowledged; undefined if it was not verified. */
  acknowledged: z.int().optional(),
  files: z.partialRecord(
    // The database is SQLite's, whatever engine its rows come from.
    z.enum([SQLITE_FILE, ...CHECKPOINT_FILES]),
    z.object({ bytes: z.int(), sha256: z.string() }),
  ),
});

/** What `backup.json` says. */
export type BackupList = z.infer<typeof listSchema>;

/** Throws `Failure` if `path`, which may not exist yet, is in `storage`. */
export function requireElsewhere(path: string, storage: string): void {
  if (`${existing(path)}${sep}`.startsWith(`${existing(storage)}${sep}`))
    throw new Failure(`${shownPath(path)} is in the storage, and would be lost with it: name one elsewhere`);
}

const unfinishedPath = (folder: string, name: string) => join(folder, UNFINISHED + name);

/** Makes the folder in which a backup is put together, and the name that it will get. Throws the system's errors. */
export async function beginBackup(folder: string): Promise<{ name: string; unfinished: string }> {
  const isFree = (name: string) => !existsSync(join(folder, name));
  const unfinished = await freshFolder(folder, UNFINISHED, isFree);
  return { name: basename(unfinished).slice(UNFINISHED.length), unfinished };
}

/** Makes a folder in another, named by `prefix` and this moment. Of two within a second, the later waits. Throws the system's errors. */
export async function freshFolder(
  parent: string,
  prefix: string,
  isFree = (_moment: string) => true,
): Promise<string> {
  for (;;) {
    // `2026-11-21T041700Z`
    const moment = `${formatTimestamp(systemClock.now()).slice(0, 19).replaceAll(':', '')}Z`;
    const path = join(parent, prefix + moment);
    if (isFree(moment) && (await makeFolder(path))) return path;
    await pause(NAME_PAUSE_MS);
  }
}

/** Makes a folder for its owner alone. Returns whether it was not there before. Throws the system's errors. */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Lists what was put into an unfinished backup, and gives it its name. Throws the system's errors. */
export async function finishBackup(folder: string, name: string, list: BackupList): Promise<string> {
  const unfinished = unfinishedPath(folder, name);
  await writeDurably(join(unfinished, LIST), `${JSON.stringify(list, null, 2)}\n`);
  await sync(unfinished);
  await rename(unfinished, join(folder, name));
  await sync(folder);
  return join(folder, name);
}

/** The names of the finished backups in a folder, the oldest first. Throws the system's errors. */
export function backupNames(folder: string): string[] {
  const isBackup = (name: string) => FINISHED.test(name) && existsSync(join(folder, name, LIST));
  return readdirSync(folder).filter(isBackup).sort();
}

/** What the verified backups of a folder say of themselves, the oldest first; those that cannot be read are left out. */
function readLists(folder: string): { name: string; list: BackupList }[] {
  return backupNames(folder).flatMap((name) => {
    const list = listOf(join(folder, name));
    return list && list.unverified === undefined ? [{ name, list }] : [];
  });
}

/**
 * Throws `Failure` where a folder holds backups of another store than `list` is of, which count as this one's, and get deleted as
 * this one's. A store that was begun anew is another: its backups shall not take the place of those of what was lost.
 */
export function requireSameStore(folder: string, list: BackupList): void {
  const newest = readLists(folder).at(-1)?.list;
  if (!newest) return;
  const isUnknown = newest.first_seal === null || (list.unverified !== undefined && list.first_seal === null);
  const isOther = !isUnknown && newest.first_seal !== list.first_seal;
  if (isOther || newest.storage !== list.storage)
    throw new Failure(
      `${shownPath(folder)} holds backups of another store, that of ${newest.storage} with the first seal ${newest.first_seal?.slice(0, 16)}: give each a folder of its own`,
    );
}

/**
 * Deletes the oldest backups beyond `keep`, of which `made` is one, whatever its name: a clock may have been ahead before.
 * Those that cannot be read or were not verified count for nothing and stay. Returns the names of the deleted. Throws the system's errors.
 */
export async function deleteOldest(folder: string, keep: number, made: string): Promise<string[]> {
  const others = readLists(folder).flatMap(({ name }) => (name === made ? [] : [name]));
  const deleted = others.slice(0, Math.max(0, others.length - (keep - 1)));
  for (const name of deleted) {
    // By then what is left of it cannot be taken for a backup.
    await rename(join(folder, name), unfinishedPath(folder, name));
    await rm(unfinishedPath(folder, name), { recursive: true, force: true });
  }
  return deleted;
}

/** Removes what was begun and never finished, or not wholly deleted, half a day ago. Throws the system's errors. */
export async function deleteAbandoned(folder: string): Promise<void> {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(UNFINISHED))) {
    const changed = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (changed < systemClock.now() - ABANDONED_AFTER_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** The description of a backup (`backup.json`). Throws `Failure` if it has none. */
export function readList(backup: string): BackupList {
  if (!existsSync(join(backup, LIST))) {
    const inside = existsSync(backup) && statSync(backup).isDirectory() ? backupNames(backup) : [];
    const hint = inside.length > 0 ? `; the newest backup in it is ${basename(inside.at(-1)!)}` : '';
    throw new Failure(`${shownPath(backup)} is no backup: it has no ${LIST}${hint}`);
  }
  const list = listOf(backup);
  if (!list) throw damaged(backup, `its ${LIST} cannot be read`);
  return list;
}

function listOf(backup: string): BackupList | undefined {
  try {
    return listSchema.parse(JSON.parse(readFileSync(join(backup, LIST), 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * Holds a backup's files to its list: `digest` reads one of them, by its name, and gives its digest. Files that are not in the list
 * are not of the backup, and left alone. Throws `Failure` at the first that is not the one that was backed up.
 */
export async function requireFiles(
  backup: string,
  { files }: BackupList,
  digest: (name: keyof BackupList['files']) => Promise<FileDigest>,
): Promise<void> {
  const names = Object.keys(files) as (keyof BackupList['files'])[];
  for (const name of names) if (!existsSync(join(backup, name))) throw damaged(backup, `${name} is missing`);
  for (const name of names) {
    const { bytes, sha256 } = files[name]!;
    const found = await digest(name);
    if (found.bytes !== bytes) throw damaged(backup, `${name} has ${found.bytes} bytes instead of ${bytes}`);
    if (found.sha256 !== sha256) throw damaged(backup, `${name} is not the file that was backed up`);
  }
}

/** What a damaged backup is refused with. */
export function damaged(backup: string, how: string): Failure {
  return new Failure(`${shownPath(backup)} is damaged: ${how}. Take another backup; nothing was changed`);
}
