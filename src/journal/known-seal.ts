// The newest seal that a node knows of, kept beside its checkpoints: it outlives the process, which knows more than the last checkpoint.
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { placeDurably } from '../lib/durable-files.ts';
import { type Logger, Outage } from '../lib/log.ts';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import type { Seal } from './audit-entry.ts';

export const KNOWN_SEAL_FILE = 'newest-seal.json';
const EVERY_MS = SECOND_MS;

/** A seal that stood when this node knew it. `at` in milliseconds since 1970. */
interface KnownSeal extends Pick<Seal, 'number' | 'last_entry' | 'hash'> {
  at: number;
}

/** The newest that was kept in a storage directory; undefined if there is none, or the file is no such thing. */
export function knownSeal(storage: string): KnownSeal | undefined {
  try {
    const { number, last_entry, hash, at } = JSON.parse(readFileSync(join(storage, KNOWN_SEAL_FILE), 'utf8'));
    const isOne = [number, last_entry, at].every(Number.isSafeInteger) && typeof hash === 'string';
    return isOne ? { number, last_entry, hash, at } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Keeps the first that it is told at once, the newest each second and at the stop. It asks no store: one that is gone or went back
 * does not hold it up.
 */
export class SealKeeper {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #log: Pick<Logger, 'info' | 'error'>;
  readonly #timer: NodeJS.Timeout;
  readonly #outage = new Outage();
  #newest: Pick<Seal, 'number' | 'last_entry' | 'hash'> | undefined;
  #kept: number | undefined;
  #keeping: Promise<void> | undefined;

  constructor(storage: string, clock: Clock, log: Pick<Logger, 'info' | 'error'>) {
    this.#file = join(storage, KNOWN_SEAL_FILE);
    this.#clock = clock;
    this.#log = log;
    this.#timer = setInterval(() => {
      this.#keeping ??= this.#keep().finally(() => (this.#keeping = undefined));
    }, EVERY_MS).unref();
  }

  /**
   * Takes a seal that stands, as `Fence.know` does. The first is on the disk when this returns, so before a commit of this node is
   * answered: a store that is lost in the node's first second is missed at the next start.
   */
  know(seal: Pick<Seal, 'number' | 'last_entry' | 'hash'>): void {
    const isFirst = this.#newest === undefined;
    if (seal.number <= (this.#newest?.number ?? 0)) return;
    this.#newest = seal;
    if (!isFirst) return;
    try {
      placeDurably(this.#file, this.#textOf(seal));
      this.#kept = seal.number;
    } catch (error) {
      this.#failed(error);
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#keeping;
    await this.#keep();
  }

  async #keep(): Promise<void> {
    const newest = this.#newest;
    if (!newest || newest.number === this.#kept) return;
    const file = this.#file;
    try {
      const handle = await open(`${file}.new`, 'w', 0o600);
      try {
        await handle.writeFile(this.#textOf(newest));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(`${file}.new`, file);
      this.#kept = newest.number;
      if (this.#outage.ends()) this.#log.info('the newest seal is kept again');
    } catch (error) {
      this.#failed(error);
    }
  }

  #textOf({ number, last_entry, hash }: Pick<Seal, 'number' | 'last_entry' | 'hash'>): string {
    return JSON.stringify({ number, last_entry, hash, at: this.#clock.now() });
  }

  #failed(error: unknown): void {
    if (this.#outage.begins())
      this.#log.error({ err: error }, `the newest seal cannot be kept in ${this.#file}; it is tried again`);
  }
}
