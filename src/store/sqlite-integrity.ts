// Has SQLite prove a whole file, every index by its table, in a process of its own, so that the service goes on meanwhile.
import { execFile } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { DatabaseError } from './database.ts';

const PROGRAM = fileURLToPath(new URL('./sqlite-integrity-process.ts', import.meta.url));
/** Of what the process says. It says ten faults at most. */
const LONGEST_BYTES = 64 * 1024;

/**
 * Returns what is wrong with the file, ten faults at most; empty where nothing is. It is read as one state, in a process with a
 * lower priority, which `signal` ends. Throws `DatabaseError`, and the signal's reason.
 */
export function sqliteFaults(file: string, signal?: AbortSignal): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: LONGEST_BYTES, killSignal: 'SIGKILL', env: {} } as const;
    const child = execFile(process.execPath, [PROGRAM, file], options, (error, said, complained) => {
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else if (error) reject(new DatabaseError('unavailable', complained.trim() || error.message));
      else resolve(JSON.parse(said) as string[]);
    });
    const end = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    try {
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    } catch {} // it has ended, or this system has no priorities
  });
}
