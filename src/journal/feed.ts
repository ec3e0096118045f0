// Hands new entries of all nodes to listeners a moment after their commit, and to the caches in memory.
import { type Logger, Outage } from '../lib/log.ts';
import { Rounds } from '../lib/rounds.ts';
import type { Database, Reader } from '../store/database.ts';
import type { AuditEntry, Seal } from './audit-entry.ts';
import type { Journal } from './journal.ts';
import { entriesAbout, newestEntry } from './queries.ts';

/** Interval at which commits of other nodes are read. */
const EVERY_MS = 250;
/** Commits of this node within this time are read together. */
const TOGETHER_MS = 20;
const PAGE = 500;

export interface FeedListener {
  /** Whether it has no subscribers at the moment, so that entries need not be read. */
  readonly isIdle: boolean;
  /** Takes new entries, in order. If it throws, all listeners get the same entries again. */
  hear(entries: readonly AuditEntry[]): Promise<void> | void;
}

interface FeedParts {
  database: Database;
  journal: Journal;
  /** What the subjects of the entries begin with. */
  prefix: string;
  log: Logger;
}

export class Feed {
  readonly #parts: FeedParts;
  readonly #listeners: FeedListener[] = [];
  /** The newest entry of which this node knows that no failover takes it back. */
  #standing = 0;
  /** The listeners have heard all entries up to this one. Undefined while all of them are idle. */
  #reached: number | undefined;
  #beginning: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  #stopped = false;
  readonly #outage: Outage;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#outage = new Outage({
      log: parts.log,
      fails: 'events cannot be sent for now; it is tried again',
      works: 'events are sent again',
    });
  }

  add(listener: FeedListener): void {
    this.#listeners.push(listener);
  }

  /**
   * A listener that is no longer idle calls this before it reads the store: what that read cannot show yet, it will hear. Throws
   * `OperationalError` and `DatabaseError`.
   */
  async begin(): Promise<void> {
    while (this.#running) await this.#running; // entries that are read right now may pass by who was idle a moment ago
    if (this.#reached !== undefined) return;
    this.#beginning ??= this.#confirmed()
      .then((number) => {
        this.#reached ??= number;
        this.#schedule(EVERY_MS);
      })
      .finally(() => {
        this.#beginning = undefined;
      });
    await this.#beginning;
  }

  /** Up to which entry listeners have heard everything; 0 while all of them are idle. */
  get reached(): number {
    return this.#reached ?? 0;
  }

  /** The newest entry of which this node knows, 0 before the first `begin`. */
  get newest(): number {
    return Math.max(this.#standing, this.reached);
  }

  /** Takes the seal of a commit of this node, or of another one that stands. */
  know(seal: Seal): void {
    this.#standing = Math.max(this.#standing, seal.last_entry);
    if (this.#reached !== undefined) this.#schedule(TOGETHER_MS);
  }

  /** Hands nothing more out. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(inMs: number): void {
    if (this.#stopped || this.#running || this.#dueMs <= inMs) return;
    clearTimeout(this.#timer);
    this.#dueMs = inMs;
    this.#timer = setTimeout(() => {
      this.#running = this.#outage
        .tried(() => this.#tell())
        .finally(() => {
          this.#running = undefined;
          this.#dueMs = Number.POSITIVE_INFINITY;
          if (this.#reached !== undefined)
            this.#schedule(this.#standing > this.#reached && !this.#outage.lasts ? TOGETHER_MS : EVERY_MS);
        });
    }, inMs);
  }

  async #tell(): Promise<void> {
    const { database, prefix } = this.#parts;
    const visible = await newestEntry(database);
    const reached = this.#reached!;
    if (this.#standing <= reached && visible <= reached) return this.#rest();
    const until = Math.min(visible, this.#standing > reached ? this.#standing : await this.#confirmed());
    while (this.reached < until && !this.#stopped) {
      const entries = await entriesAbout(database, prefix, this.reached, until, PAGE);
      for (const listener of this.#listeners) if (!listener.isIdle) await listener.hear(entries);
      this.#reached = entries.length < PAGE ? until : entries.at(-1)!.number;
    }
    this.#rest();
  }

  #rest(): void {
    if (this.#listeners.every(({ isIdle }) => isIdle)) this.#reached = undefined;
  }

  /** The newest entry that reads show and that stands: on PostgreSQL a read alone may show what a failover takes back. */
  async #confirmed(): Promise<number> {
    const { database, journal } = this.#parts;
    database.refresh();
    const visible = await newestEntry(database);
    this.#standing = Math.max(this.#standing, (await journal.newestSeal())?.last_entry ?? 0);
    return Math.min(visible, this.#standing);
  }
}

/** Interval at which the newest entry number is read. Changes of other nodes are known within a second. */
const FOLLOWED_EVERY_MS = 500;

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
  const outage = new Outage({
    log,
    fails: 'the journal cannot be followed for now; it is tried again',
    works: 'the journal is followed again',
  });
  const rounds = new Rounds(() => outage.tried(follow), FOLLOWED_EVERY_MS);

  async function follow(): Promise<void> {
    const number = await newestEntry(database);
    if (number > newest) for (const one of heard) await tell(one, number);
    newest = number;
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

  rounds.start();
  return { isFollowing: () => !outage.lasts, stop: () => rounds.stop() };
}
