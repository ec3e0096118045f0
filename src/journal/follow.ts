// Follows the journal of all nodes and passes entries about given subjects to in-memory caches.

import { type Logger, Outage } from '../lib/log.ts';
import type { Reader } from '../store/database.ts';
import type { AuditEntry } from './audit-entry.ts';
import { entriesAbout, newestEntry } from './queries.ts';

/** Interval at which the newest entry number is read. Changes of other nodes are known within a second. */
const EVERY_MS = 500;
const PAGE = 500;

export interface JournalListener {
  /** The prefix of the subjects whose entries it gets. */
  prefix: string;
  /** Takes what the store holds by now: at the start, before anything else is done. */
  load(): Promise<void>;
  /** Takes new entries, in order. What it throws is logged, and the same entries come again. */
  hear(entries: readonly AuditEntry[]): Promise<void>;
}

interface Following {
  /** Whether the last round went well. */
  isFollowing(): boolean;
  stop(): Promise<void>;
}

/**
 * Loads all listeners, then hands them each new entry until stopped. Throws `DatabaseError` at the start alone; what fails later
 * is logged once until it works again, and tried again every half second.
 */
export async function followJournal(
  database: Reader,
  listeners: readonly JournalListener[],
  log: Logger,
): Promise<Following> {
  // The number before the load: what is written in between comes twice rather than never.
  const begun = await newestEntry(database);
  const heard = listeners.map((listener) => ({ listener, number: begun }));
  for (const { load } of listeners) await load();
  let newest = begun;
  const outage = new Outage();
  let stopping = false;
  let round: Promise<void> | undefined;
  let timer = setTimeout(next, EVERY_MS);

  async function follow(): Promise<void> {
    try {
      const number = await newestEntry(database);
      if (number > newest) for (const one of heard) await tell(one, number);
      newest = number;
      if (outage.ends()) log.info('the journal is followed again');
    } catch (error) {
      if (outage.begins())
        log.warn({ err: error }, 'the journal cannot be followed for now; it is tried again');
    }
  }

  /** Tells a listener of the entries up to `until`. */
  async function tell(one: (typeof heard)[number], until: number): Promise<void> {
    const { prefix, hear } = one.listener;
    for (;;) {
      const entries = await entriesAbout(database, prefix, one.number, until, PAGE);
      if (entries.length > 0) await hear(entries);
      one.number = entries.length < PAGE ? until : entries.at(-1)!.number;
      if (entries.length < PAGE) return;
    }
  }

  function next(): void {
    round = follow().finally(() => {
      if (!stopping) timer = setTimeout(next, EVERY_MS);
    });
  }

  return {
    isFollowing: () => !outage.lasts,
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await round;
    },
  };
}
