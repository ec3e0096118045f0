// The newest seal that a node knows of, kept beside its checkpoints: it outlives the process, which knows more than the last checkpoint.
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Keeps what it is told each second, and at the stop. It asks no store: one that is gone or went back does not hold it up. */
export class SealKeeper {
  readonly #storage: string;
  readonly #clock: Clock;
  readonly #log: Pick<Logger, 'info' | 'error'>;
  readonly #timer: NodeJS.Timeout;
  readonly #outage = new Outage();
  #newest: Pick<Seal, 'number' | 'last_entry' | 'hash'> | undefined;
  #kept: number | undefined;
  #keeping: Promise<void> | undefined;

  constructor(storage: string, clock: Clock, log: Pick<Logger, 'info' | 'error'>) {
    this.#storage = storage;
    this.#clock = clock;
    this.#log = log;
    this.#timer = setInterval(() => {
      this.#keeping ??= this.#keep().finally(() => (this.#keeping = undefined));
    }, EVERY_MS).unref();
  }

  /** Takes a seal that stands, as `Fence.know` does. */
  know(seal: Pick<Seal, 'number' | 'last_entry' | 'hash'>): void {
    if (seal.number > (this.#newest?.number ?? 0)) this.#newest = seal;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#keeping;
    await this.#keep();
  }

  async #keep(): Promise<void> {
    const newest = this.#newest;
    if (!newest || newest.number === this.#kept) return;
    const { number, last_entry, hash } = newest;
    const file = join(this.#storage, KNOWN_SEAL_FILE);
    try {
      const handle = await open(`${file}.new`, 'w', 0o600);
      try {
        await handle.writeFile(JSON.stringify({ number, last_entry, hash, at: this.#clock.now() }));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(`${file}.new`, file);
      this.#kept = number;
      if (this.#outage.ends()) this.#log.info('the newest seal is kept again');
    } catch (error) {
      if (this.#outage.begins())
        this.#log.error({ err: error }, `the newest seal cannot be kept in ${file}; it is tried again`);
    }
  }
}
