// How many merchants one network address makes in an hour. Kept in memory, by each node for itself.
import { LRUCache } from 'lru-cache';
import { network } from '../http/network.ts';
import { type Clock, HOUR_MS } from '../lib/time.ts';

/** How many networks are remembered; beyond that, those seen longest ago are forgotten. */
const REMEMBERED = 20_000;

/** Registrations of each network within an hour that begins with the first of them. What comes to nothing counts for nothing. */
export class RegistrationCounts {
  readonly #perHour: number;
  readonly #clock: Clock;
  readonly #hours = new LRUCache<string, { began: number; count: number }>({ max: REMEMBERED });

  constructor(perHour: number, clock: Clock) {
    this.#perHour = perHour;
    this.#clock = clock;
  }

  /** How long whoever calls from `ip` must wait before the next is taken, in milliseconds; 0 where it is taken now. */
  waitMs(ip: string): number {
    const hour = this.#hourOf(ip);
    return hour.count < this.#perHour ? 0 : hour.began + HOUR_MS - this.#clock.now();
  }

  /** Counts one registration. Returns what takes it back, for one that comes to nothing. */
  count(ip: string): () => void {
    const hour = this.#hourOf(ip);
    hour.count++;
    return () => void hour.count--;
  }

  #hourOf(ip: string): { began: number; count: number } {
    const from = network(ip);
    const now = this.#clock.now();
    const known = this.#hours.get(from);
    // A clock that was set back must not make anybody wait for longer than an hour.
    if (known && now >= known.began && now < known.began + HOUR_MS) return known;
    const hour = { began: now, count: 0 };
    this.#hours.set(from, hour);
    return hour;
  }
}
