// How many files and connections the system lets this process have open.
import { readFileSync } from 'node:fs';

/** The limit as it is now (`ulimit -n`); undefined where the system does not say. */
export function descriptorLimit(): number | undefined {
  let text: string;
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
  const soft = /^Max open files\s+(\S+)/m.exec(text)?.[1];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : soft && Number(soft) ? Number(soft) : undefined;
}
