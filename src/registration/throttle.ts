// How many merchants are made in an hour: by one network address, by one site of many, and in all. Kept in memory, by each node for itself.
import { LRUCache } from 'lru-cache';
import { network, site } from '../http/network.ts';
import { SITE_SHARE } from '../http/network-counts.ts';
import { type Clock, HOUR_MS } from '../lib/time.ts';

/** How many networks are remembered; beyond that, those seen longest ago are forgotten. */
const REMEMBERED = 20_000;
/** For each registration that is taken, so many invitations may be looked up that are of no use. */
const LOOK_UPS = 4;

/** Registrations that are taken in an hour. */
export interface RegistrationLimits {
  /** From one network address. */
  perAddress: number;
  /** From all of them together. */
  perHour: number;
}

/** What was done since `began`: merchants made, and invitations looked up in vain. */
interface Hour {
  began: number;
  made: number;
  inVain: number;
}

/** Registrations within an hour that begins with the first of them. What comes to nothing counts for nothing, but for looking up. */
export class RegistrationCounts {
  readonly #limits: RegistrationLimits;
  readonly #clock: Clock;
  readonly #hours = new LRUCache<string, Hour>({ max: REMEMBERED });
  #all: Hour | undefined;

  constructor(limits: RegistrationLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** How long whoever calls from `ip` must wait before the next is taken, in milliseconds; 0 where it is taken now. */
  waitMs(ip: string): number {
    const now = this.#clock.now();
    const waits = this.#counted(ip).map(([{ began, made, inVain }, maximum]) =>
      made < maximum && inVain < maximum * LOOK_UPS ? 0 : began + HOUR_MS - now,
    );
    return Math.max(...waits);
  }

  /**
   * Counts one registration. Returns what takes it back, for one that comes to nothing; `lookedUp`: its invitation was looked up,
   * which is counted by itself.
   */
  count(ip: string): (done: { lookedUp: boolean }) => void {
    const hours = this.#counted(ip).map(([hour]) => hour);
    for (const hour of hours) hour.made++;
    return ({ lookedUp }) => {
      for (const hour of hours) {
        hour.made--;
        if (lookedUp) hour.inVain++;
      }
    };
  }

  /** The hours that a registration from `ip` counts in, and how many each has room for. */
  #counted(ip: string): [hour: Hour, maximum: number][] {
    const { perAddress, perHour } = this.#limits;
    this.#all = this.#current(this.#all);
    return [
      [this.#hourOf(network(ip)), perAddress],
      [this.#hourOf(`site ${site(ip)}`), perAddress * SITE_SHARE],
      [this.#all, perHour],
    ];
  }

  #hourOf(from: string): Hour {
    const hour = this.#current(this.#hours.get(from));
    this.#hours.set(from, hour);
    return hour;
  }

  /** The hour that runs: `known`, or a new one. */
  #current(known: Hour | undefined): Hour {
    const now = this.#clock.now();
    return known && now < known.began + HOUR_MS ? known : { began: now, made: 0, inVain: 0 };
  }
}
