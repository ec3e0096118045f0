// Figures of all payments for the console: how many wait, the decisions of each day, and the last decision.

import { LRUCache } from 'lru-cache';
import type { Journal } from '../journal/journal.ts';
import { type Clock, lastDays, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import type { Payment } from '../payments/payment.ts';
import type { Database } from '../store/database.ts';
import { type FactSource, factsOf } from './facts.ts';
import { decidedBetween, type LastDecision, lastDecision } from './queries.ts';
import { countQueue, type QueueCount, type QueueFilter } from './queue-queries.ts';

const DAYS = 30;
/** Nodes' clocks differ a little, and a commit takes its time. So a day is final a while after it ended. */
const SETTLING_MS = 15 * MINUTE_MS;
/** So long the count may be behind what other nodes commit; what this one commits is counted at once. */
const COUNTED_MS = 2 * SECOND_MS;
/** Counts of the queue that are remembered: the whole, and two for each of a hundred administrators. */
const COUNTS_REMEMBERED = 200;
/** Payments whose facts are remembered: a few pages of the queue. */
const LOOKS_REMEMBERED = 1000;
const LATEST = Number.MAX_SAFE_INTEGER;

/** The decisions of one day, of live and test payments. */
export interface DayFigures {
  /** `2026-11-20`. */
  date: string;
  approved: number;
  rejected: number;
}

interface Parts {
  database: Database;
  journal: Journal;
  clock: Clock;
  /** Whose days are counted (IANA). */
  timeZone: string;
  /** What the bank's statements show of a payment. */
  onStatement?: FactSource;
}

export class ReviewFigures {
  readonly #parts: Parts;
  /** Counts of the queue by the filter that narrows it. */
  readonly #counted = new LRUCache<string, { at: number; commits: number; count: Promise<QueueCount> }>({
    max: COUNTS_REMEMBERED,
  });
  /** How many facts want a second look, by payment and version, and when that was counted. */
  readonly #looks = new LRUCache<string, { at: number; count: Promise<number> }>({ max: LOOKS_REMEMBERED });
  /** Days that are final: they never change. */
  readonly #over = new Map<string, DayFigures>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * The queue, or what of it a filter of one press leaves; counted once for all who ask while nothing is committed. Throws
   * `DatabaseError`.
   */
  waiting(filter: Pick<QueueFilter, 'money' | 'claim'> = {}): Promise<QueueCount> {
    const { database, journal, clock } = this.#parts;
    const at = clock.now();
    const { commits } = journal.counters;
    const { money, claim } = filter;
    const key = `${money} ${claim?.is} ${claim?.by}`;
    const known = this.#counted.get(key);
    if (known?.commits === commits && at - known.at < COUNTED_MS) return known.count;
    const count = countQueue(database, filter);
    const counted = { at, commits, count };
    this.#counted.set(key, counted);
    count.catch(() => {
      if (this.#counted.get(key) === counted) this.#counted.delete(key);
    });
    return count;
  }

  /**
   * How many facts about each payment want a second look, in their order. A count may be a minute old: it takes eight statements. Throws
   * `DatabaseError`.
   */
  async looks(payments: readonly Payment[]): Promise<number[]> {
    const { database, clock, timeZone, onStatement } = this.#parts;
    const now = clock.now();
    const counts: number[] = [];
    for (const payment of payments) {
      const key = `${payment.id} ${payment.version}`;
      const known = this.#looks.get(key);
      const isFresh = known !== undefined && now - known.at < MINUTE_MS;
      const facts = isFresh
        ? known.count
        : factsOf(database, payment, { now, timeZone }, onStatement).then(
            (all) => all.filter(({ kind, tone }) => tone === 'notice' && kind !== 'test_mode').length,
          );
      counts.push(await facts);
      if (!isFresh) this.#looks.set(key, { at: now, count: facts });
    }
    return counts;
  }

  /** The last 30 days, today the last of them. Throws `DatabaseError`. */
  async days(): Promise<DayFigures[]> {
    const { database, clock, timeZone } = this.#parts;
    const now = clock.now();
    if (this.#over.size > 4 * DAYS) this.#over.clear();
    const days = lastDays(timeZone, now, DAYS);
    const figures: DayFigures[] = [];
    for (const [index, { date, start }] of days.entries()) {
      const end = days[index + 1]?.start;
      const day = this.#over.get(date) ?? { date, ...(await decidedBetween(database, start, end ?? LATEST)) };
      if (end !== undefined && now > end + SETTLING_MS) this.#over.set(date, day);
      figures.push(day);
    }
    return figures;
  }

  /** The newest decision, or undefined. Throws `DatabaseError`. */
  lastDecision(): Promise<LastDecision | null> {
    return lastDecision(this.#parts.database);
  }
}
