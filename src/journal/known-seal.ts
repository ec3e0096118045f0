// The newest seal that a node knows of, kept beside its checkpoints: a store that does not hold it is an older copy.
import { readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { placeDurably, writeDurably } from '../lib/durable-files.ts';
import { type Logger, Outage } from '../lib/log.ts';
import { type Clock, formatTimestamp, SECOND_MS } from '../lib/time.ts';
import { tried } from '../lib/tried.ts';
import type { Reader } from '../store/database.ts';
import type { HostGuard } from '../store/postgres-hosts.ts';
import type { Seal } from './audit-entry.ts';
import { CheckpointLookup } from './checkpoint.ts';
import { findSeal, newestSeal, unlessEmpty } from './queries.ts';

export const KNOWN_SEAL_FILE = 'newest-seal.json';
const EVERY_MS = SECOND_MS;

/** A seal that stood when this node knew it. `at` in milliseconds since 1970. */
interface KnownSeal extends Pick<Seal, 'number' | 'last_entry' | 'hash'> {
  at: number;
}

/** The newest that was kept in a storage directory; undefined if there is none, or the file is no such thing. */
export function knownSeal(storage: string): KnownSeal | undefined {
  const kept = tried(() => JSON.parse(readFileSync(join(storage, KNOWN_SEAL_FILE), 'utf8')));
  const { number, last_entry, hash, at } = kept ?? {};
  const isOne = [number, last_entry, at].every(Number.isSafeInteger) && typeof hash === 'string';
  return isOne ? { number, last_entry, hash, at } : undefined;
}

/**
 * Keeps the first that it is told at once, the newest each second and at the stop. It asks no store: one that is gone or went back
 * does not hold it up.
 */
export class SealKeeper {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  readonly #outage: Outage;
  #newest: Pick<Seal, 'number' | 'last_entry' | 'hash'> | undefined;
  #kept: number | undefined;
  #keeping: Promise<void> | undefined;

  constructor(storage: string, clock: Clock, log: Pick<Logger, 'info' | 'warn' | 'error'>) {
    this.#file = join(storage, KNOWN_SEAL_FILE);
    this.#clock = clock;
    this.#outage = new Outage({
      ...{ log, level: 'error' },
      fails: `the newest seal cannot be kept in ${this.#file}; it is tried again`,
      works: 'the newest seal is kept again',
    });
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
      this.#outage.begins(error);
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
    const unfinished = `${this.#file}.new`;
    await this.#outage.tried(async () => {
      await writeDurably(unfinished, this.#textOf(newest), 'w');
      await rename(unfinished, this.#file);
      this.#kept = newest.number;
    });
  }

  #textOf({ number, last_entry, hash }: Pick<Seal, 'number' | 'last_entry' | 'hash'>): string {
    return JSON.stringify({ number, last_entry, hash, at: this.#clock.now() });
  }
}

/** A seal that stood: signed as a checkpoint, or known to the node until its end. `at`: ISO 8601. */
interface Vouched extends Pick<Seal, 'number' | 'last_entry' | 'hash'> {
  at: string;
  isSigned: boolean;
}

/** A store that does not hold the history which is vouched for. */
export interface OtherHistory {
  vouched: Vouched;
  /** The newest seal of the store. Undefined if the store is empty. */
  end: Seal | undefined;
}

/** The newest checkpoint of a storage directory, and the newest seal that its node knew, the newer first. Throws the system's errors. */
export async function vouchedIn(storage: string): Promise<Vouched[]> {
  const known = knownSeal(storage);
  const checkpoint = await new CheckpointLookup(storage).newest();
  const all: Vouched[] = [];
  if (checkpoint) {
    const { seal: number, last_entry, hash, signed_at: at } = checkpoint;
    all.push({ number, last_entry, hash, at, isSigned: true });
  }
  if (known) all.push({ ...known, at: formatTimestamp(known.at), isSigned: false });
  return all.sort((one, other) => other.number - one.number);
}

/**
 * Returns what is vouched for and the end of the store if they contradict each other. Returns undefined if they agree, or if nothing is
 * vouched for. Throws `DatabaseError` and the system's errors.
 */
export async function otherHistory(database: Reader, storage: string): Promise<OtherHistory | undefined> {
  // Read first: both are written for what the store holds already, so they are never ahead of it.
  for (const vouched of await vouchedIn(storage)) {
    const held = await unlessEmpty(findSeal(database, vouched.number));
    if (held?.hash !== vouched.hash) return { vouched, end: await unlessEmpty(newestSeal(database)) };
  }
  return undefined;
}

type Known = Pick<Seal, 'number' | 'hash'>;

export class Fence implements HostGuard {
  readonly #log: Pick<Logger, 'error' | 'info'>;
  #newest: Known | undefined;

  /** `known`: the newest seal that is vouched for beside the store, or undefined. */
  constructor(known: Known | undefined, log: Pick<Logger, 'error' | 'info'>) {
    this.#log = log;
    this.#newest = known;
  }

  /**
   * Takes a seal that stands: one of an acknowledged commit, or one that was read before such a commit. A seal that was only read may be
   * taken back by a failover. A node that relied on it would refuse the right store for ever.
   */
  know({ number, hash }: Known): void {
    if (!this.#newest || number > this.#newest.number) this.#newest = { number, hash };
  }

  /**
   * What keeps a store from being used, in words; undefined where its history is the one that is known here. `isOpening`: the
   * service starts or a command runs, and every host has answered. A store put back to an older copy is opened then: the check
   * `vouched_history` keeps the service from starting on it, and `audit restored` needs it open. Throws `DatabaseError`.
   */
  async admit(view: Reader, isOpening: boolean): Promise<string | undefined> {
    const known = this.#newest;
    const found = known && (await unlessEmpty(findSeal(view, known.number)));
    if (found?.hash !== known?.hash) {
      if (!isOpening)
        return found
          ? 'has another history than the one this node knows'
          : 'has a history that ends before the newest seal this node knows';
      this.#newest = undefined;
    }
    return undefined;
  }

  onFiles(fault: string | undefined): void {
    if (fault === undefined)
      this.#log.info('the files of the database are in place again: changes are taken');
    else
      this.#log.error(
        { fault },
        'the database was removed or replaced while it is open: changes are refused. Do not stop this process before counterfoil store rescue has saved what it has open',
      );
  }

  onRefused(host: string, reason: string): void {
    this.#log.error({ host, reason }, 'a host of the database is not used');
  }
}
