// Shares the attempts that run on a node among merchants and hosts, so that slow receivers of one leave room for all others.
import { type Endpoint, hostOf } from './endpoint.ts';

/** Attempts that run on a node. */
const OF_ALL = 512;
/**
 * The part of the free slots that one merchant, and one host, may hold. However many of them hold all they may, slots are left: 8 hold
 * 42 each of 512 and leave 170, 100 hold 4 each and leave 19.
 */
const SHARE = 1 / 4;

export class Slots {
  #running = 0;
  /** Slots by who holds them. */
  readonly #held = new Map<string, number>();
  /** Senders that wait for a slot, the longest waiting first. */
  readonly #waiting = new Map<Endpoint, () => void>();

  /** Takes up to `wanted` slots for an endpoint. Returns how many. If that is 0, `wake` is called when there may be one. */
  take(endpoint: Endpoint, wanted: number, wake: () => void): number {
    const taken = Math.max(0, Math.min(wanted, this.#room(endpoint)));
    if (taken > 0) this.#add(endpoint, taken);
    if (taken > 0 || wanted <= 0) this.#waiting.delete(endpoint);
    else this.#waiting.set(endpoint, wake);
    return taken;
  }

  /** Gives slots of an endpoint back. */
  release(endpoint: Endpoint, count: number): void {
    if (count === 0) return;
    this.#add(endpoint, -count);
    for (const [waiting, wake] of this.#waiting) {
      if (this.#room(waiting) <= 0) continue;
      this.#waiting.delete(waiting);
      wake();
      return;
    }
  }

  /** An endpoint waits no more. */
  forget(endpoint: Endpoint): void {
    this.#waiting.delete(endpoint);
  }

  #room(endpoint: Endpoint): number {
    const free = OF_ALL - this.#running;
    const most = Math.max(1, Math.floor(free * SHARE));
    const rooms = holdersOf(endpoint).map((holder) => most - (this.#held.get(holder) ?? 0));
    return Math.min(free, ...rooms);
  }

  #add(endpoint: Endpoint, count: number): void {
    this.#running += count;
    for (const holder of holdersOf(endpoint)) {
      const held = (this.#held.get(holder) ?? 0) + count;
      if (held === 0) this.#held.delete(holder);
      else this.#held.set(holder, held);
    }
  }
}

const holdersOf = (endpoint: Endpoint) => [endpoint.merchant_id, hostOf(endpoint)];
