// A time limit that several steps share.
import { monotonicMs } from '../lib/time.ts';
import { DatabaseError } from './database.ts';

export class Budget {
  readonly #endsAt: number;

  /** Begins now and lasts `ms`. */
  constructor(ms: number) {
    this.#endsAt = monotonicMs() + ms;
  }

  /** The remaining milliseconds, at most `ms`. Throws `DatabaseError` (`unavailable`) if none remain. */
  left(ms = Number.POSITIVE_INFINITY): number {
    const left = Math.ceil(this.#endsAt - monotonicMs());
    if (left <= 0) throw new DatabaseError('unavailable', 'the time for it was used up');
    return Math.min(left, ms);
  }
}
