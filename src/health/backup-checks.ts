// The check of backups: how old the newest is that holds anything, in a folder that may lie on another machine.
import type { Stats } from 'node:fs';
import { opendir, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import { type Check, failed, ok, type Verdict, warning } from './check.ts';

/** A day, and as long as a large backup takes. */
const BACKUP_MAXIMUM_MS = 26 * HOUR_MS;
/** How far the clock of the machine that the folder is on may be ahead. */
const AHEAD_MAXIMUM_MS = 5 * MINUTE_MS;
const ENTRIES_MAXIMUM = 10_000;

const MEND = 'see why the job that makes them does not';

/** Looks that have not come back. A folder that does not answer holds one thread of few: it is not asked again until it does. */
const underWay = new Map<string, Promise<Verdict>>();

const backups: Check = {
  id: 'backups',
  about: 'Backups',
  stage: 'later',
  isRemote: true,
  async look({ settings: { backups: folder, storage, written }, clock, deadlineMs }) {
    if (folder === null)
      return warning(
        'Nobody says where backups are, so nobody can say how old they are',
        'set backups to the folder they are put in',
        written.place(['backups']),
      );
    let looking = underWay.get(folder);
    if (!looking) {
      looking = verdictOf(folder, storage, clock.now()).finally(() => underWay.delete(folder));
      underWay.set(folder, looking);
    }
    const late = new AbortController();
    const silence = pause(deadlineMs, undefined, { signal: late.signal, ref: false }).then(
      () => failed(`The folder did not answer within ${deadlineMs / SECOND_MS} s`, MEND, folder),
      () => looking,
    );
    try {
      return await Promise.race([looking, silence]);
    } finally {
      late.abort();
    }
  },
};

/** What is to be said of the backups in a folder at `now`. Raises nothing of the file system's. */
async function verdictOf(folder: string, storage: string, now: number): Promise<Verdict> {
  try {
    if (await isWithin(folder, storage))
      return failed(
        'Backups are put into storage, and are lost with it',
        'put them on another disk, and from there on another machine',
        folder,
      );
    return await ageVerdict(folder, now);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const fault = code === 'ENOENT' ? 'The folder is not there' : `The folder cannot be read (${code})`;
    return failed(fault, MEND, folder);
  }
}

async function isWithin(folder: string, storage: string): Promise<boolean> {
  const above = await realpath(storage).catch(() => storage);
  return `${await realpath(folder)}${sep}`.startsWith(`${above}${sep}`);
}

async function ageVerdict(folder: string, now: number): Promise<Verdict> {
  let [entries, ahead, newest] = [0, 0, Number.NEGATIVE_INFINITY];
  for await (const { name } of await opendir(folder)) {
    if (name.startsWith('.')) continue;
    if (++entries > ENTRIES_MAXIMUM)
      return warning(
        `The folder holds more than ${ENTRIES_MAXIMUM.toLocaleString('en')} files, too many to look at`,
        'name the folder of the backups alone, and remove old ones',
        folder,
      );
    const found = await statOrNothing(join(folder, name));
    if (!found || !(await holdsAnything(join(folder, name), found))) continue;
    if (found.mtimeMs > now + AHEAD_MAXIMUM_MS) ahead++;
    else newest = Math.max(newest, found.mtimeMs);
  }
  if (newest === Number.NEGATIVE_INFINITY) {
    if (ahead > 0)
      return failed(
        'Every backup bears a time that is yet to come',
        'set the clock right of the machine that makes them, and see whether they are new',
        folder,
      );
    return failed(entries === 0 ? 'There is no backup' : 'No backup holds anything', MEND, folder);
  }
  const hours = Math.max(0, Math.floor((now - newest) / HOUR_MS));
  const told = `The newest backup is ${hours < 72 ? `${hours} h` : `${Math.floor((hours * HOUR_MS) / DAY_MS)} days`} old`;
  return now - newest > BACKUP_MAXIMUM_MS ? failed(told, MEND, folder) : ok(told);
}

/** What is known of a file; nothing where a link leads nowhere, or it was removed meanwhile. */
async function statOrNothing(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** Whether a file is not empty, or a folder has one that is not. */
async function holdsAnything(path: string, found: Stats): Promise<boolean> {
  if (!found.isDirectory()) return found.size > 0;
  for (const name of await readdir(path)) {
    const inside = await statOrNothing(join(path, name));
    if (inside && (inside.isDirectory() || inside.size > 0)) return true;
  }
  return false;
}

export const BACKUP_CHECKS: readonly Check[] = [backups];
