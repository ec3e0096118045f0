// Limits how many merchants are made within an hour: by one network address, by one site of many, and in all.

import { type Clock, HOUR_MS } from '../../lib/time.ts';
import { fromNetwork, Throttle } from '../../web/throttle.ts';

/** For each registration that is taken, so many invitations may be looked up that are of no use. */
const LOOK_UPS = 4;

/** Registrations that are taken in an hour. */
export interface RegistrationLimits {
  /** From one network address. */
  perAddress: number;
  /** From all of them together. */
  perHour: number;
}

/** Counts registrations. What comes to nothing does not count, except that looking up an invitation counts by itself. */
export class RegistrationCounts {
  readonly #made: Throttle;
  readonly #inVain: Throttle;

  constructor({ perAddress, perHour }: RegistrationLimits, clock: Clock) {
    const throttle = (share: number) =>
      new Throttle(clock, HOUR_MS, [
        ...fromNetwork(perAddress * share),
        { nameOf: () => 'all', maximum: perHour * share },
      ]);
    this.#made = throttle(1);
    this.#inVain = throttle(LOOK_UPS);
  }

  /** Returns how long a caller from `ip` must wait before the next is taken, in milliseconds; 0 if it is taken now. */
  waitMs(ip: string): number {
    return Math.max(this.#made.waitMs(ip), this.#inVain.waitMs(ip));
  }

  /** Counts one registration. Returns what takes it back; `lookedUp`: its invitation was looked up. */
  count(ip: string): (done: { lookedUp: boolean }) => void {
    this.#made.count(ip);
    return ({ lookedUp }) => {
      this.#made.takeBack(ip);
      if (lookedUp) this.#inVain.count(ip);
    };
  }
}
