// The locks that this process has on files, as Linux lists them (proc_locks(5)).
import { existsSync, readFileSync, statSync } from 'node:fs';

const LOCKS = '/proc/locks';
export const tellsLocks = existsSync(LOCKS);

/** How many locks this process has on a file. */
export function locksOn(file: string): number {
  const { ino } = statSync(file);
  const own = new RegExp(`^\\d+: \\S+ +\\S+ +\\S+ ${process.pid} \\S+:${ino} `, 'gm');
  return readFileSync(LOCKS, 'utf8').match(own)?.length ?? 0;
}
