// A span of time that several steps share, so that together they end by it.
import { monotonicMs } from '../lib/time.ts';
import { DatabaseError } from './database.ts';

export class Budget {
  readonly #endsAt: number;

  /** Begins now and lasts `ms`. */
  constructor(ms: number) {
    this.#endsAt = monotonicMs() + ms;
  }

  /** What is left, in milliseconds, at most `ms` of it. Throws `DatabaseError` (`unavailable`) when it is used up. */
  left(ms = Number.POSITIVE_INFINITY): number {
    const left = Math.ceil(this.#endsAt - monotonicMs());
    if (left <= 0) throw new DatabaseError('unavailable', 'the time for it was used up');
    return Math.min(left, ms);
  }
}
