// Looks into a folder that may lie on another machine, and does not wait for one that does not answer.
import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../lib/time.ts';
import { failed, type Verdict } from './check.ts';

/** Looks that have not come back. A folder that does not answer holds one thread of few: it is not asked again until it does. */
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
