// A backup as it lies: a folder named by its moment, with the store's files and a list of them, made whole or not at all.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { CHECKPOINT_FILES } from '../journal/checkpoint.ts';
import { type FileDigest, sync, writeDurably } from '../lib/durable-files.ts';
import { formatTimestamp } from '../lib/time.ts';
import { Failure, shownPath } from './terminal.ts';

const LIST = 'backup.json';
/** What is not finished, or about to be deleted, is called so: no backup is. */
const UNFINISHED = '.unfinished-';
const FINISHED = /^\d{4}-\d\d-\d\dT\d{6}Z$/;

/** The file of a backup that holds the database, on each engine. */
export const DATABASE_FILE = { sqlite: 'counterfoil.sqlite', postgres: 'counterfoil.dump' } as const;

const listSchema = z.object({
  /** `2026-11-21T04:17:00+00:00` */
  made_at: z.string(),
  /** Of the program that made it. */
  version: z.string(),
  engine: z.enum(['sqlite', 'postgres']),
  /** Of the storage whose backup it is. */
  storage: z.string(),
  /** How many migrations the database had seen. */
  schema: z.int(),
  entries: z.int(),
  seals: z.int(),
  /** When the newest entry was made; null where there is none. */
  newest_entry_at: z.string().nullable(),
  /** Whether its history was verified when it was made. */
  verified: z.boolean(),
  files: z.partialRecord(
    z.enum([...Object.values(DATABASE_FILE), ...CHECKPOINT_FILES]),
    z.object({ bytes: z.int(), sha256: z.string() }),
  ),
});

/** What `backup.json` says. */
export type BackupList = z.infer<typeof listSchema>;

/** The name of a backup made at `ms` (milliseconds since 1970): `2026-11-21T041700Z`. */
export function backupName(ms: number): string {
  return `${formatTimestamp(ms).slice(0, 19).replaceAll(':', '')}Z`;
}

/** Where a backup is made until it is whole. */
export function unfinishedPath(folder: string, name: string): string {
  return join(folder, UNFINISHED + name);
}

/** Lists what was put into an unfinished backup, and gives it its name. Raises the system's errors. */
export async function finishBackup(folder: string, name: string, list: BackupList): Promise<string> {
  const unfinished = unfinishedPath(folder, name);
  await writeDurably(join(unfinished, LIST), `${JSON.stringify(list, null, 2)}\n`);
  await sync(unfinished);
  await rename(unfinished, join(folder, name));
  await sync(folder);
  return join(folder, name);
}

/** The names of the finished backups in a folder, the oldest first. Raises the system's errors. */
export function backupNames(folder: string): string[] {
  const isBackup = (name: string) => FINISHED.test(name) && existsSync(join(folder, name, LIST));
  return readdirSync(folder).filter(isBackup).sort();
}

/** Removes a backup: by then nobody takes what is left of it for one. Raises the system's errors. */
export async function deleteBackup(folder: string, name: string): Promise<void> {
  const unfinished = unfinishedPath(folder, name);
  await rename(join(folder, name), unfinished);
  await rm(unfinished, { recursive: true });
}

/** Removes what was begun and never finished, or not wholly deleted. Raises the system's errors. */
export async function deleteUnfinished(folder: string): Promise<void> {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(UNFINISHED)))
    await rm(join(folder, name), { recursive: true, force: true });
}

/** What a backup says of itself. Raises `Failure` where it is none. */
export function readList(backup: string): BackupList {
  let text: string;
  try {
    text = readFileSync(join(backup, LIST), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    const inside = existsSync(backup) && statSync(backup).isDirectory() ? backupNames(backup) : [];
    const hint = inside.length > 0 ? `; the newest backup in it is ${basename(inside.at(-1)!)}` : '';
    throw new Failure(`${shownPath(backup)} is no backup: it has no ${LIST}${hint}`);
  }
  const list = listSchema.safeParse(parsed(text));
  if (!list.success) throw new Failure(`${LIST} of ${shownPath(backup)} is damaged`);
  return list.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Holds a backup's files to its list: `digest` gives a file's. Raises `Failure` at the first that is not the one that was backed up. */
export async function requireFiles(
  backup: string,
  list: BackupList,
  digest: (file: string) => Promise<FileDigest>,
): Promise<void> {
  for (const name of Object.keys(list.files)) {
    if (!existsSync(join(backup, name))) throw damaged(backup, `${name} is missing`);
  }
  const strange = readdirSync(backup).find((name) => name !== LIST && !Object.hasOwn(list.files, name));
  if (strange) throw damaged(backup, `${strange} does not belong to it`);
  for (const [name, { bytes, sha256 }] of Object.entries(list.files)) {
    const found = await digest(join(backup, name));
    if (found.bytes !== bytes) throw damaged(backup, `${name} has ${found.bytes} bytes instead of ${bytes}`);
    if (found.sha256 !== sha256) throw damaged(backup, `${name} is not the file that was backed up`);
  }
}

function damaged(backup: string, how: string): Failure {
  return new Failure(`${shownPath(backup)} is damaged: ${how}. Take another backup; nothing was changed`);
}
