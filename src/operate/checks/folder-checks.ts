// Checks of folders that may lie on other machines: how old the newest verified backup is, and which bank statements wait.
import { constants, type Stats } from 'node:fs';
import { access, opendir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { findSeal } from '../../journal/queries.ts';
import { counted } from '../../lib/text.ts';
import { DAY_MS, HOUR_MS, inTime, MINUTE_MS, SECOND_MS } from '../../lib/time.ts';
import { FOLDERS, isUnfinished, namesIn, ownFolderFault, REASON } from '../../statements/folder.ts';
import { type Database, DatabaseError } from '../../store/database.ts';
import { hasStarted } from '../../store/open.ts';
import { check, checkTable, failed, ok, type Subject, skipped, type Verdict, warning } from './check.ts';

/** A day, and as long as a large backup takes. */
export const BACKUP_MAXIMUM_MS = 26 * HOUR_MS;
/** How far the clock of the machine that the folder is on may be ahead. */
const AHEAD_MAXIMUM_MS = 5 * MINUTE_MS;
const ENTRIES_MAXIMUM = 10_000;

const BACKUP_LIST = 'backup.json';
/** Files by which a folder is a backup: of ours, of pg_dump by hand, of pg_basebackup. */
const SIGNS = [BACKUP_LIST, 'counterfoil.dump', 'backup_manifest'];
/** A dump, or a backup in one file; compressed or encrypted too: `counterfoil.dump.gz`, `2026-11-21T041700Z.tar.age`. */
const BACKUP_FILE = /(^\d{4}-\d\d-\d\dT\d{6}Z|\.(dump|sql|sqlite))(\.\w+)*$/;

const FIX = 'see why the job that makes them does not';

export const FOLDER_CHECKS = checkTable({
  backups: check('Backups', ['later', 'isRemote'], async (subject) => {
    const { settings, clock, deadlineMs } = subject;
    const { backups: folder, storage, written } = settings;
    if (folder === null)
      return warning(
        'The folder of backups is not set, so their age is unknown',
        'set backups to the folder they are put in',
        written.place(['backups']),
      );
    return withinDeadline(folder, { deadlineMs, fix: FIX }, () =>
      verdictOf(folder, storage, clock.now(), (says) => withoutBackup(says, folder, subject)),
    );
  }),
  statement_folder: check(
    'Folder of bank statements',
    ['later', 'isRemote'],
    async ({ settings, clock, deadlineMs }) => {
      const { folder } = settings.statements;
      if (folder === null) return skipped('No folder of bank statements is watched');
      return withinDeadline(folder, { deadlineMs, fix: FOLDER_FIX }, () =>
        statementsVerdict(folder, settings.storage, clock.now()),
      );
    },
  ),
});

/** What is to be said of the backups in a folder at `now`. Throws nothing of the file system's. */
async function verdictOf(
  folder: string,
  storage: string,
  now: number,
  none: (says: string) => Promise<Verdict>,
): Promise<Verdict> {
  try {
    if (await isWithin(folder, storage))
      return failed(
        'Backups are put into storage, and are lost with it',
        'put them on another disk, and from there on another machine',
        folder,
      );
    return await ageVerdict(folder, now, none);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code === 'ENOENT') return none('The folder is not there');
    return failed(`The folder cannot be read (${code})`, FIX, folder);
  }
}

/** The verdict on a store without a backup. It fails only once the first entry is older than a backup may be. */
async function withoutBackup(says: string, folder: string, subject: Subject): Promise<Verdict> {
  const { store, settings, clock } = subject;
  const command = `run counterfoil backup ${folder}`;
  if (!hasStarted(settings))
    return skipped('There is no backup yet, and nothing to back up', `${command} after the first start`);
  const begunAt = 'database' in store ? await firstEntryAt(store.database) : 0;
  if (clock.now() - begunAt > BACKUP_MAXIMUM_MS) return failed(says, FIX, folder);
  return warning('There is no backup yet', `${command}, and let a job do so each night`, folder);
}

/** When the first entry was written, in milliseconds since 1970; infinity if there is none. Throws `DatabaseError`. */
async function firstEntryAt(database: Database): Promise<number> {
  try {
    return (await findSeal(database, 1))?.at ?? Number.POSITIVE_INFINITY;
  } catch (error) {
    if (error instanceof DatabaseError && error.lacksTable) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** What may be a backup: where it is, and when it was written last, milliseconds since 1970. */
interface Candidate {
  path: string;
  at: number;
}

async function ageVerdict(
  folder: string,
  now: number,
  none: (says: string) => Promise<Verdict>,
): Promise<Verdict> {
  const { entries, backups } = await candidatesIn(folder);
  if (entries > ENTRIES_MAXIMUM)
    return warning(
      `The folder holds more than ${ENTRIES_MAXIMUM.toLocaleString('en')} files, too many to look at`,
      'name the folder of the backups alone, and remove old ones',
      folder,
    );
  if (backups.length === 0)
    return none(entries === 0 ? 'There is no backup' : 'Nothing in the folder is a backup');
  const newest = newestFirst(backups, now);
  if (newest.length === 0)
    return failed(
      'Every backup bears a time that is yet to come',
      'set the clock right of the machine that makes them, and see whether they are new',
      folder,
    );
  for (const [i, { path, at }] of newest.entries()) {
    if (await isUnverified(path)) continue;
    const hours = Math.max(0, Math.floor((now - at) / HOUR_MS));
    const age = hours < 72 ? `${hours} h` : `${Math.floor((hours * HOUR_MS) / DAY_MS)} days`;
    const told = `The newest ${i === 0 ? '' : 'verified '}backup is ${age} old`;
    return now - at > BACKUP_MAXIMUM_MS ? failed(told, FIX, folder) : ok(told);
  }
  return failed('No backup is verified', 'see what counterfoil audit verify finds', folder);
}

/** When the newest verified backup in a folder was made, in milliseconds since 1970; 0 if there is none. Throws the system's errors. */
export async function newestBackupAt(folder: string, now: number): Promise<number> {
  const { backups } = await candidatesIn(folder);
  for (const { path, at } of newestFirst(backups, now)) if (!(await isUnverified(path))) return at;
  return 0;
}

/** Without those from a time to come. */
function newestFirst(backups: readonly Candidate[], now: number): Candidate[] {
  return backups.filter(({ at }) => at <= now + AHEAD_MAXIMUM_MS).sort((a, b) => b.at - a.at);
}

/** The backups in a folder, and how many entries it has; it is not read on beyond `ENTRIES_MAXIMUM`. */
async function candidatesIn(folder: string): Promise<{ entries: number; backups: Candidate[] }> {
  let entries = 0;
  const backups: Candidate[] = [];
  for await (const { name } of await opendir(folder)) {
    if (name.startsWith('.')) continue;
    if (++entries > ENTRIES_MAXIMUM) break;
    const path = join(folder, name);
    const found = await statOrNothing(path);
    if (found && (await isBackup(path, name, found))) backups.push({ path, at: found.mtimeMs });
  }
  return { entries, backups };
}

/** What is known of a file; undefined where a link leads nowhere, or it was removed meanwhile. */
async function statOrNothing(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** Whether it is a backup: a folder that holds what one ends with, or a file that is called like one. Empty ones are none. */
async function isBackup(path: string, name: string, found: Stats): Promise<boolean> {
  if (!found.isDirectory()) return found.size > 0 && BACKUP_FILE.test(name);
  for (const sign of SIGNS) if ((await statOrNothing(join(path, sign)))?.size) return true;
  return false;
}

/** Whether a backup says of itself that it was not verified (`counterfoil backup --unverified`). */
async function isUnverified(path: string): Promise<boolean> {
  const list = await readFile(join(path, BACKUP_LIST), 'utf8').catch(() => undefined);
  if (list === undefined) return false; // made by another program, which says nothing of it
  try {
    return Boolean(JSON.parse(list).unverified);
  } catch {
    return true; // a list that cannot be read vouches for nothing
  }
}

/** A file is taken within seconds of its last change. */
const WAITING_MAXIMUM_MS = 15 * MINUTE_MS;
const OTHERS = 0o007;
const FOLDER_FIX = 'make the folder for the account that serves, or leave statements.folder out';
const WRITING =
  'restart the service; where systemd runs it, name the folder in ReadWritePaths of its unit (docs/statements.md)';

/** What is to be said of the folder at `now`. Throws nothing of the file system's. */
async function statementsVerdict(folder: string, storage: string, now: number): Promise<Verdict> {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (await isWithin(folder, storage))
      return failed(
        'It lies in storage, where no file may be that others can read',
        'choose another folder',
        folder,
      );
    for (const name of Object.values(FOLDERS)) {
      const fault = await ownFolderFault(join(folder, name));
      if (fault) return failed(fault, 'remove it, and the service makes a folder there', folder);
    }
    const { mode } = await stat(folder);
    const refused = await namesIn(join(folder, FOLDERS.failed));
    const reasons = new Set(refused.map((name) => name + REASON));
    const files = refused.filter((name) => !reasons.has(name)).length;
    if (files > 0)
      return warning(
        `${counted(files, 'statement file was', 'statement files were')} not imported`,
        'read the text file beside each, put right what it says, and move them away',
        join(folder, FOLDERS.failed),
      );
    const waiting = await oldestIn(folder);
    if (waiting !== undefined && now - waiting > WAITING_MAXIMUM_MS)
      return warning(
        'A statement file has waited for more than 15 minutes',
        'see in the log why statement files are imported later',
        folder,
      );
    if (mode & OTHERS)
      return warning('Every account of the machine may look into it', `run chmod o= ${folder}`, folder);
    return ok('Bank statements are imported from it');
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code === 'ENOENT' && path !== folder)
      return failed('The service has not written to it', WRITING, folder);
    return failed(`The folder cannot be used (${code})`, FOLDER_FIX, folder);
  }
}

/** When the oldest of the files that wait was changed last, milliseconds since 1970. */
async function oldestIn(folder: string): Promise<number | undefined> {
  let oldest: number | undefined;
  for (const name of await namesIn(folder)) {
    if (isUnfinished(name)) continue;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found?.isFile()) oldest = Math.min(oldest ?? found.mtimeMs, found.mtimeMs);
  }
  return oldest;
}

/** Reads that have not returned. A folder that does not answer holds one of few threads, so it is not read again until then. */
const underWay = new Map<string, Promise<Verdict>>();

/** What `look` says of `folder`; a failure with `fix` if it says nothing in time. */
async function withinDeadline(
  folder: string,
  { deadlineMs, fix }: { deadlineMs: number; fix: string },
  look: () => Promise<Verdict>,
): Promise<Verdict> {
  let looking = underWay.get(folder);
  if (!looking) {
    looking = look().finally(() => underWay.delete(folder));
    underWay.set(folder, looking);
  }
  const silent = () => failed(`The folder did not answer within ${deadlineMs / SECOND_MS} s`, fix, folder);
  return inTime(deadlineMs, looking, silent);
}

/** Whether a folder lies in storage. Throws the system's errors if it is not there. */
async function isWithin(folder: string, storage: string): Promise<boolean> {
  const above = await realpath(storage).catch(() => storage);
  return `${await realpath(folder)}${sep}`.startsWith(`${above}${sep}`);
}
