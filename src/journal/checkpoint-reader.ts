// Reads checkpoints for a service that runs: each line once, checked, and from then on only what was appended.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { checkpointFiles } from './checkpoint.ts';
import { type Checkpoint, checkpointFault } from './checkpoint-statement.ts';

/** So many signatures are checked before others get their turn: some 10 ms. */
const CHECKED_AT_ONCE = 100;

/** The checkpoints of one storage directory, as far as each is right behind the one before. */
export class CheckpointReader {
  readonly #directory: string;
  #checkpoints: Checkpoint[] = [];
  /** How much of the file is read. */
  #bytes = 0;
  /** A line was not right: nothing behind it counts. */
  #broken = false;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** All there are by now, in order; what stands behind a line that is not right is left out. Raises the system's errors. */
  read(): Promise<readonly Checkpoint[]> {
    const next = this.#reading.then(() => this.#readOn());
    this.#reading = next.catch(() => {});
    return next;
  }

  async #readOn(): Promise<readonly Checkpoint[]> {
    const { file, publicKeyFile } = checkpointFiles(this.#directory);
    const appended = await this.#appended(file);
    const lines = appended.split('\n').slice(0, -1); // what has no end yet is read once it has
    if (lines.length === 0 || this.#broken) return this.#checkpoints;
    const publicKey = createPublicKey(await readFile(publicKeyFile));
    for (const [index, line] of lines.entries()) {
      if (index % CHECKED_AT_ONCE === CHECKED_AT_ONCE - 1) await setImmediate();
      this.#take(line, publicKey);
    }
    return this.#checkpoints;
  }

  #take(line: string, publicKey: KeyObject): void {
    this.#bytes += Buffer.byteLength(line) + 1;
    const checkpoint = checkpointFault(line, publicKey, this.#checkpoints.at(-1));
    if (typeof checkpoint === 'string') this.#broken = true;
    if (!this.#broken) this.#checkpoints.push(checkpoint as Checkpoint);
  }

  /** What the file holds behind what is read; all of it where it has become shorter: another was put in its place. */
  async #appended(file: string): Promise<string> {
    let handle: Awaited<ReturnType<typeof open>>;
    try {
      handle = await open(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      this.#forget();
      return '';
    }
    try {
      const { size } = await handle.stat();
      if (size < this.#bytes) this.#forget();
      const appended = Buffer.alloc(size - this.#bytes);
      const { bytesRead } = await handle.read(appended, 0, appended.length, this.#bytes);
      return appended.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  #forget(): void {
    this.#checkpoints = [];
    this.#bytes = 0;
    this.#broken = false;
  }
}
