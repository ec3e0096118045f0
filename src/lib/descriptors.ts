// How many files and connections the system lets this process have open.
import { readFileSync } from 'node:fs';
import { tried } from './tried.ts';

/** The limit as it is now (`ulimit -n`); undefined where the system does not say. */
export function descriptorLimit(): number | undefined {
  const text = tried(() => readFileSync('/proc/self/limits', 'utf8'), '');
  const soft = /^Max open files\s+(\S+)/m.exec(text)?.[1];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : soft && Number(soft) ? Number(soft) : undefined;
}
