// Reads a file of statements in a worker thread, because a large one takes seconds, and the lines of a large file once more in parts.
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ReadOptions, ReadStatements } from '#bank-statements';
import { MINUTE_MS } from '../lib/time.ts';
import type { LinePart, LineParts, ToldLines } from './told-lines.ts';

/** What the thread is given. */
export interface FileToRead {
  bytes: Uint8Array<ArrayBuffer>;
  name: string;
  csv: ReadOptions | undefined;
  /** The numbers of the statements whose lines are sent; `taken` counts the parts that were taken over. */
  parts?: { places: readonly number[]; taken: Int32Array };
}

/** What the thread sends. `places` are of a file whose lines are not in `statements`. */
export type ReadPart =
  | {
      read: ReadStatements & {
        told: ToldLines[];
        places: number[] | undefined;
        bytes: Uint8Array<ArrayBuffer>;
      };
    }
  | { part: LinePart }
  | { isEnd: true; bytes: Uint8Array<ArrayBuffer> };

/** A file that was read. Its statements have their lines if it is small, else those come by `parts`. */
export interface ReadFile extends ReadStatements {
  /** Of each statement. */
  told: readonly ToldLines[];
  parts?: LineParts;
  /** The file. Undefined while `parts` are read. */
  bytes(): Uint8Array<ArrayBuffer> | undefined;
}

/** Lines of a file that are sent with it. */
export const LINES_SENT = 500;
/** Parts that are read before they are taken over. */
export const PARTS_AHEAD = 4;
/** Memory of the thread, in MB, beside the file. */
const MEMORY_MB = 512;
/** Files that are read at once, and files whose parts are read at once. Others wait. */
const THREADS_MAXIMUM = 2;
/** The largest file takes half a minute. */
const READING_MS = 5 * MINUTE_MS;

/** Lets `THREADS_MAXIMUM` in at once. */
class Gate {
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  async enter(): Promise<void> {
    if (this.#inside >= THREADS_MAXIMUM) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside++;
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inside--;
  }
}

const [reading, importing] = [new Gate(), new Gate()];

const threadFor = (file: FileToRead): Worker =>
  new Worker(new URL('./read-worker.ts', import.meta.url), {
    workerData: file,
    transferList: [file.bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 8 },
  });

/**
 * Reads a file on another thread. `bytes` are handed over and must not be used afterwards: `ReadFile.bytes` gives them back. Rejects if the
 * thread fails, as it does without memory, and after five minutes.
 */
export async function readBeside(bytes: Uint8Array, name: string, csv?: ReadOptions): Promise<ReadFile> {
  await reading.enter();
  try {
    return await readInThread(ownBytes(bytes), name, csv);
  } finally {
    reading.leave();
  }
}

/** Bytes that can be handed over: no part of a larger buffer. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
  return isWhole ? new Uint8Array(bytes.buffer as ArrayBuffer) : new Uint8Array(bytes);
}

async function readInThread(
  handed: Uint8Array<ArrayBuffer>,
  name: string,
  csv: ReadOptions | undefined,
): Promise<ReadFile> {
  const worker = threadFor({ bytes: handed, name, csv });
  const late = setTimeout(() => worker.terminate(), READING_MS);
  try {
    const { places, bytes, ...read } = await new Promise<Extract<ReadPart, { read: unknown }>['read']>(
      (resolve, reject) => {
        worker.on('message', (part: ReadPart) => 'read' in part && resolve(part.read));
        worker.once('error', reject);
        worker.once('exit', () => reject(new Error('The file could not be read in time.')));
      },
    );
    const held: { bytes: Uint8Array<ArrayBuffer> | undefined } = { bytes };
    const parts = places && (() => linesOf(held, { name, csv }, places));
    return { ...read, ...(parts && { parts }), bytes: () => held.bytes };
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}

/** The lines of a file, part by part. The thread reads on as parts are taken, and ends with the loop. */
async function* linesOf(
  held: { bytes: Uint8Array<ArrayBuffer> | undefined },
  { name, csv }: Pick<FileToRead, 'name' | 'csv'>,
  places: readonly number[],
): AsyncGenerator<LinePart> {
  await importing.enter();
  const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const bytes = held.bytes!;
  held.bytes = undefined;
  const worker = threadFor({ bytes, name, csv, parts: { places, taken } });
  try {
    for await (const [message] of on(worker, 'message', { close: ['exit'] })) {
      const part = message as ReadPart;
      if ('isEnd' in part) {
        held.bytes = part.bytes;
        return;
      }
      if ('part' in part) yield part.part;
      Atomics.add(taken, 0, 1);
      Atomics.notify(taken, 0);
    }
    throw new Error('The file could not be read to its end.');
  } finally {
    importing.leave();
    await worker.terminate();
  }
}
