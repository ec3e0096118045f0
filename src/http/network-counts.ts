// How often something is done from one network, and from the IPv6 allocation around it, within a window of time.
import { network, site } from './network.ts';
import { WindowCounts } from './window-counts.ts';

/** How many times as much a whole allocation of IPv6 (/48) may do as one network (/64) in it. */
export const SITE_SHARE = 4;

/** Counts by network. What is one too many for its network does not count for the allocation, so that one network cannot use it up. */
export class NetworkCounts {
  readonly #ofNetwork: WindowCounts;
  readonly #ofSite: WindowCounts;

  /** `maximum` in `windowMs` milliseconds from one network, `SITE_SHARE` times as many from one allocation. */
  constructor(maximum: number, windowMs: number) {
    this.#ofNetwork = new WindowCounts(maximum, windowMs);
    this.#ofSite = new WindowCounts(maximum * SITE_SHARE, windowMs);
  }

  /** Counts one at `now`. Returns how long to wait, in milliseconds, where it is one too many; else 0. */
  count(ip: string, now: number): number {
    return this.#ofNetwork.count(network(ip), now) || this.#ofSite.count(site(ip), now);
  }

  /** Takes one back that was counted and turned out to be none. */
  takeBack(ip: string, now: number): void {
    this.#ofNetwork.takeBack(network(ip), now);
    if (!this.#ofNetwork.isFull(network(ip), now)) this.#ofSite.takeBack(site(ip), now);
  }

  /** Whether the next would be one too many. */
  isFull(ip: string, now: number): boolean {
    return this.#ofNetwork.isFull(network(ip), now) || this.#ofSite.isFull(site(ip), now);
  }
}
