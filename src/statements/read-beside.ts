// Reads a file of statements in a worker thread, because a large one takes seconds.
import { Worker } from 'node:worker_threads';
import type { ReadOptions, ReadStatements, StatementLine } from '#bank-statements';
import { MINUTE_MS } from '../lib/time.ts';

/** What the thread is given. */
export interface FileToRead {
  bytes: Uint8Array;
  name: string;
  csv: ReadOptions | undefined;
}

/** What the thread sends: everything but the lines, then the lines of each statement in parts. */
export type ReadPart =
  | { read: ReadStatements }
  | { statement: number; lines: StatementLine[] }
  | { isEnd: true };

/** Lines that are taken over at once. */
export const LINES_IN_PART = 1000;
/** Memory of the thread, in MB: a file of 64 MB takes about 400. */
const MEMORY_MB = 1024;
/** Files that are read at once. Others wait. */
const THREADS_MAXIMUM = 2;
/** The largest file takes half a minute. */
const READING_MS = 5 * MINUTE_MS;

let reading = 0;
const waiting: (() => void)[] = [];

/** The same as `readStatements`, on another thread. Rejects if the thread fails, as it does without memory, and after five minutes. */
export async function readBeside(
  bytes: Uint8Array,
  name: string,
  csv?: ReadOptions,
): Promise<ReadStatements> {
  if (reading >= THREADS_MAXIMUM) await new Promise<void>((resolve) => waiting.push(resolve));
  else reading++;
  try {
    return await readInThread({ bytes, name, csv });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else reading--;
  }
}

async function readInThread(file: FileToRead): Promise<ReadStatements> {
  const worker = new Worker(new URL('./read-worker.ts', import.meta.url), {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const late = setTimeout(() => worker.terminate(), READING_MS);
  try {
    return await new Promise((resolve, reject) => {
      let read: ReadStatements | undefined;
      worker.on('message', (part: ReadPart) => {
        if ('read' in part) read = part.read;
        else if ('isEnd' in part) resolve(read!);
        else read!.statements[part.statement]!.lines.push(...part.lines);
      });
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('The file could not be read in time.')));
    });
  } finally {
    clearTimeout(late);
  }
}
