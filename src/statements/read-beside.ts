// Reads a file of statements in a worker thread, because a large one takes seconds.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ReadOptions, ReadStatements } from '#bank-statements';

/** What the thread is given. */
export interface FileToRead {
  bytes: Uint8Array;
  name: string;
  csv: ReadOptions | undefined;
}

/** Memory of the thread, in MB: a file of 64 MB takes about 400. */
const MEMORY_MB = 1024;

/** The same as `readStatements`, on another thread. Rejects if the thread fails, as it does without memory. */
export async function readBeside(
  bytes: Uint8Array,
  name: string,
  csv?: ReadOptions,
): Promise<ReadStatements> {
  const worker = new Worker(new URL('./read-worker.ts', import.meta.url), {
    workerData: { bytes, name, csv } satisfies FileToRead,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const [read] = (await once(worker, 'message')) as [ReadStatements];
  return read;
}
