// What processes have had of processors, in milliseconds.
import { readFileSync } from 'node:fs';

/** A hundredth of a second, in which Linux counts. */
const TICK_MS = 10;

/** This process, and those that it started and that have ended; nothing of these where this is no Linux. */
export function spentMs(): { own: number; started: number } {
  const { user, system } = process.cpuUsage();
  let started = 0;
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
    started = (Number(fields[13]) + Number(fields[14])) * TICK_MS;
  } catch {}
  return { own: (user + system) / 1000, started };
}
