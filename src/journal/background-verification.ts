// Verifies the history in the background of this node, one time at a time, and keeps what the newest came to.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, monotonicMs } from '../lib/time.ts';
import { tried } from '../lib/tried.ts';
import type { Database } from '../store/database.ts';
import { readCheckpointsPatiently } from './checkpoint.ts';
import { HistoryBroken, type RowCheck } from './rows.ts';
import { type Verification, verifyHistory } from './verify.ts';

/** What a verification came to. Moments in milliseconds since 1970. */
type BackgroundOutcome =
  | { is: 'verified'; at: number; found: Verification }
  | { is: 'broken'; at: number; problem: string; entry: number | undefined; rows: number }
  | { is: 'failed'; at: number };

/** The service stops: what is being verified is given up. */
class Stopping extends Error {}

export class BackgroundVerification {
  readonly #database: Database;
  readonly #storage: string;
  readonly #clock: Clock;
  readonly #rowChecks: readonly RowCheck[];
  readonly #report: (error: unknown) => void;
  #run: Promise<void> | undefined;
  readonly #stopping = new AbortController();
  /** The one that runs: since when, and how much of it is done, from 0 to 1. */
  running: { since: number; part: number } | undefined;
  #newest: BackgroundOutcome | undefined;

  /** `report` is called with failures that are no finding. */
  constructor(
    parts: { database: Database; storage: string; clock: Clock },
    rowChecks: readonly RowCheck[],
    report: (error: unknown) => void,
  ) {
    this.#database = parts.database;
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#rowChecks = rowChecks;
    this.#report = report;
  }

  /**
   * What the newest verification came to: one of this node since its start, or a later one by a command that found the history broken.
   * Undefined if there was none, or if a command has found the history intact since this node found it broken.
   */
  get newest(): BackgroundOutcome | undefined {
    const kept = lastVerification(this.#storage);
    if (!kept || kept.at <= (this.#newest?.at ?? 0)) return this.#newest;
    const { at, intact } = kept;
    if (!intact)
      return {
        is: 'broken',
        at,
        problem: 'see what counterfoil audit verify says',
        entry: undefined,
        rows: 0,
      };
    return this.#newest?.is === 'broken' ? undefined : this.#newest;
  }

  start(): void {
    if (this.#run || this.#stopping.signal.aborted) return;
    this.running = { since: this.#clock.now(), part: 0 };
    this.#run = this.#verify().finally(() => {
      this.#run = undefined;
      this.running = undefined;
    });
  }

  /** Answers when nothing runs any more; what does is cut short. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Stopping());
    await this.#run;
  }

  /** Answers when the one that runs has ended. */
  async ended(): Promise<void> {
    await this.#run;
  }

  async #verify(): Promise<void> {
    const { engine } = this.#database;
    const { signal } = this.#stopping;
    const indexFaults: Database['indexFaults'] = () => this.#database.indexFaults(signal);
    const rest = this.#rests();
    const snapshot: Database['snapshot'] = (look) =>
      this.#database.snapshot((view) =>
        look({
          query: async (sql, ...values) => {
            await rest();
            return view.query(sql, ...values);
          },
        }),
      );
    let acknowledged = 0;
    try {
      // The checkpoints before the view, so that none speaks of what is not in it.
      const reading = await readCheckpointsPatiently(this.#storage, rest);
      const found = await verifyHistory({ engine, snapshot, indexFaults }, reading, this.#rowChecks, {
        onProgress: (done, total) => {
          if (this.running && total > 0) this.running.part = done / total;
        },
        onAcknowledged: () => {
          acknowledged++;
        },
      });
      this.#newest = { is: 'verified', at: this.#clock.now(), found };
      keepVerification(this.#storage, { at: this.#newest.at, intact: true, acknowledged });
    } catch (error) {
      if (error instanceof Stopping) return;
      const at = this.#clock.now();
      if (error instanceof HistoryBroken) {
        this.#newest = { is: 'broken', at, problem: error.message, entry: error.entry, rows: error.rows };
        keepVerification(this.#storage, { at, intact: false, acknowledged });
      } else {
        this.#report(error);
        this.#newest = { is: 'failed', at };
      }
    }
  }

  /**
   * Pauses as long as it has worked since the last pause. Because: checking signatures and hashes, and reading SQLite, block the event
   * loop.
   */
  #rests(): () => Promise<void> {
    let since = monotonicMs();
    return async () => {
      await new Promise((resolve) => setTimeout(resolve, Math.min(monotonicMs() - since, 50)));
      this.#stopping.signal.throwIfAborted();
      since = monotonicMs();
    };
  }
}

const FILE = 'last-verification.json';

export interface LastVerification {
  /** Milliseconds since 1970. */
  at: number;
  intact: boolean;
  /** How many faults were acknowledged. */
  acknowledged: number;
}

/** Keeps what a verification came to. An account that may not write there keeps nothing. */
export function keepVerification(storage: string, { at, intact, acknowledged }: LastVerification): void {
  const file = join(storage, FILE);
  tried(() => {
    writeFileSync(`${file}.new`, JSON.stringify({ at, intact, acknowledged }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  });
}

/** The newest; undefined where the history was never verified from this storage directory. */
export const lastVerification = (storage: string): LastVerification | undefined =>
  tried(() => JSON.parse(readFileSync(join(storage, FILE), 'utf8')));
