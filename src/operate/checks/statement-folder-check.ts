// The check of the folder whose bank statements are imported by themselves, and looks into folders of other machines.
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { counted } from '../../lib/counted.ts';
import { MINUTE_MS, SECOND_MS } from '../../lib/time.ts';
import { FOLDERS, isUnfinished, namesIn, ownFolderFault, REASON } from '../../statements/folder.ts';
import { check, checkTable, failed, ok, skipped, type Verdict, warning } from './check.ts';

/** A file is taken within seconds of its last change. */
const WAITING_MAXIMUM_MS = 15 * MINUTE_MS;
const OTHERS = 0o007;
const FIX = 'make the folder for the account that serves, or leave statements.folder out';
const WRITING =
  'restart the service; where systemd runs it, name the folder in ReadWritePaths of its unit (docs/statements.md)';

export const STATEMENT_FOLDER_CHECKS = checkTable({
  statement_folder: check(
    'Folder of bank statements',
    ['later', 'isRemote'],
    async ({ settings, clock, deadlineMs }) => {
      const { folder } = settings.statements;
      if (folder === null) return skipped('No folder of bank statements is watched');
      return withinDeadline(folder, { deadlineMs, fix: FIX }, () =>
        verdictOf(folder, settings.storage, clock.now()),
      );
    },
  ),
});

/** What is to be said of the folder at `now`. Throws nothing of the file system's. */
async function verdictOf(folder: string, storage: string, now: number): Promise<Verdict> {
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
    return failed(`The folder cannot be used (${code})`, FIX, folder);
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
export async function withinDeadline(
  folder: string,
  { deadlineMs, fix }: { deadlineMs: number; fix: string },
  look: () => Promise<Verdict>,
): Promise<Verdict> {
  let looking = underWay.get(folder);
  if (!looking) {
    looking = look().finally(() => underWay.delete(folder));
    underWay.set(folder, looking);
  }
  const late = new AbortController();
  const silence = pause(deadlineMs, undefined, { signal: late.signal, ref: false }).then(
    () => failed(`The folder did not answer within ${deadlineMs / SECOND_MS} s`, fix, folder),
    () => looking,
  );
  try {
    return await Promise.race([looking, silence]);
  } finally {
    late.abort();
  }
}

/** Whether a folder lies in storage. Throws the system's errors if it is not there. */
export async function isWithin(folder: string, storage: string): Promise<boolean> {
  const above = await realpath(storage).catch(() => storage);
  return `${await realpath(folder)}${sep}`.startsWith(`${above}${sep}`);
}
