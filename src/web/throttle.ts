// Limits how often something is done within a window of time, by name: a network address, a payment, a browser.
import { LRUCache } from 'lru-cache';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import { network, site } from './network.ts';

/** Names that are remembered of each limit. Beyond that, those counted longest ago are forgotten. */
const REMEMBERED = 20_000;
/** Factor by which a whole IPv6 allocation (/48) may do more than one network (/64) in it. */
const SITE_SHARE = 4;

/** `maximum` in a window, of each name that `nameOf` gives a subject. */
interface Limited<Subject> {
  nameOf(subject: Subject): string;
  maximum: number;
}

interface Window {
  began: number;
  count: number;
}

/** The limits of an IP address: `maximum` from its network, and `SITE_SHARE` times as many from the IPv6 allocation around it. */
export function fromNetwork(maximum: number): Limited<string>[] {
  return [
    { nameOf: network, maximum },
    { nameOf: site, maximum: maximum * SITE_SHARE },
  ];
}

/** The value of Retry-After for a wait in milliseconds. */
export const wholeSeconds = (waitMs: number): number => Math.ceil(waitMs / SECOND_MS);

/** Counts in windows that begin with the first of each name. The counts are in memory, and each node has its own. */
export class Throttle<Subject = string> {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #limits: readonly Limited<Subject>[];
  /** Made with the first count, because an LRU cache allocates all its room at once. */
  #windows: LRUCache<string, Window> | undefined;

  /** `limits` are counted in their order. */
  constructor(clock: Clock, windowMs: number, limits: readonly Limited<Subject>[]) {
    this.#clock = clock;
    this.#windowMs = windowMs;
    this.#limits = limits;
  }

  /**
   * Counts one. Returns how long to wait, in milliseconds, if it is one too many; else 0. What exceeds one limit does not count for the
   * next, so that one network cannot use up what its whole allocation may do.
   */
  count(subject: Subject): number {
    const now = this.#clock.now();
    for (const [i, { nameOf, maximum }] of this.#limits.entries()) {
      const name = `${i} ${nameOf(subject)}`;
      let window = this.#current(name, now);
      if (!window) {
        window = { began: now, count: 0 };
        this.#windows ??= new LRUCache({ max: REMEMBERED * this.#limits.length });
        this.#windows.set(name, window);
      }
      window.count++;
      if (window.count > maximum) return window.began + this.#windowMs - now;
    }
    return 0;
  }

  /** Takes one back that `count` counted. */
  takeBack(subject: Subject): void {
    const now = this.#clock.now();
    for (const [i, { nameOf, maximum }] of this.#limits.entries()) {
      const window = this.#current(`${i} ${nameOf(subject)}`, now);
      if (window) window.count--;
      if (window && window.count >= maximum) return; // it exceeded this limit, and was not counted for the next
    }
  }

  /** Returns how long to wait until the next is not one too many, in milliseconds; 0 if it may come now. Counts nothing. */
  waitMs(subject: Subject): number {
    const now = this.#clock.now();
    const waits = this.#limits.map(({ nameOf, maximum }, i) => {
      const window = this.#current(`${i} ${nameOf(subject)}`, now);
      return window && window.count >= maximum ? window.began + this.#windowMs - now : 0;
    });
    return Math.max(...waits);
  }

  #current(name: string, now: number): Window | undefined {
    const window = this.#windows?.get(name);
    return window && now < window.began + this.#windowMs ? window : undefined;
  }
}
