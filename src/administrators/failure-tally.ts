// Wrong passwords of strangers beyond a rate: kept in memory and counted in one entry a minute, so that they cannot fill the history.
import { LRUCache } from 'lru-cache';
import type { Journal } from '../journal/journal.ts';
import { inSequence } from '../lib/in-sequence.ts';
import type { Logger } from '../lib/log.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../lib/time.ts';

/** Wrong passwords of strangers, whatever the addresses, that this node records one by one within a minute. */
export const RECORDED_A_MINUTE = 30;
/** Addresses whose failures are kept, those seen longest ago forgotten first; and failures of each, more than the longest wait needs. */
const SUBJECTS_MAXIMUM = 20_000;
const KEPT_OF_EACH = 20;
const COUNTED = 'sign_in.failures_counted';
const SUBJECT = 'sign_in';

/** A failed try. `network` or `device` is the mark of where it came from. */
export interface FailedSignIn {
  at: number;
  proof?: 'password' | 'second_factor';
  network?: string;
  device?: string;
}

/** One node's failures that have no entry of their own. They count for the waits as those with an entry do. */
export class FailureTally {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #kept = new LRUCache<string, FailedSignIn[]>({ max: SUBJECTS_MAXIMUM });
  #minute = { begun: Number.NEGATIVE_INFINITY, recorded: 0 };
  #counted = 0;

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Whether a failure now may have an entry of its own. If so, it is counted as one. */
  mayRecord(): boolean {
    const now = this.#clock.now();
    if (now - this.#minute.begun >= MINUTE_MS) this.#minute = { begun: now, recorded: 0 };
    if (this.#minute.recorded >= RECORDED_A_MINUTE) return false;
    this.#minute.recorded++;
    return true;
  }

  /** Counts a failure that gets no entry. `subject` is the one that its entry would have. */
  count(subject: string, failure: FailedSignIn): void {
    this.#counted++;
    this.#kept.set(subject, [failure, ...(this.#kept.get(subject) ?? [])].slice(0, KEPT_OF_EACH));
  }

  /** The failures of a subject within a day that have no entry, newest first. */
  of(subject: string): FailedSignIn[] {
    const since = this.#clock.now() - DAY_MS;
    return (this.#kept.get(subject) ?? []).filter(({ at }) => at > since);
  }

  /** Records how many were counted since the last time, if any. Throws `unavailable`, `DatabaseError`, and then counts them next time. */
  async write(): Promise<void> {
    const count = this.#counted;
    if (count === 0) return;
    await this.#journal.commitAside((transaction) =>
      transaction.record({
        actor: 'anonymous',
        action: COUNTED,
        subject: SUBJECT,
        request_id: null,
        facts: { count },
      }),
    );
    this.#counted -= count;
  }
}

/** Writes what was counted once a minute and at the stop. */
export function startFailureTally(tally: FailureTally, log: Logger): { stop(): Promise<void> } {
  const write = inSequence(() => tally.write(), log, 'failed sign-ins are counted in the history later');
  const timer = setInterval(write, MINUTE_MS);
  return {
    stop() {
      clearInterval(timer);
      return write();
    },
  };
}
