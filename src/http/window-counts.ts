// How often something was done within a window of time that begins with the first of it, by name. In memory; each node has its own.
import { LRUCache } from 'lru-cache';

/** How many names are remembered; beyond that, those counted longest ago are forgotten. */
const REMEMBERED = 20_000;

export class WindowCounts {
  readonly #maximum: number;
  readonly #windowMs: number;
  readonly #windows = new LRUCache<string, { began: number; count: number }>({ max: REMEMBERED });

  /** `maximum` in `windowMs` milliseconds, of each name. */
  constructor(maximum: number, windowMs: number) {
    this.#maximum = maximum;
    this.#windowMs = windowMs;
  }

  /** Counts one at `now`. Gives how long to wait, in milliseconds, where it is one too many; else 0. */
  count(name: string, now: number): number {
    let window = this.#windowOf(name, now);
    if (!window) {
      window = { began: now, count: 0 };
      this.#windows.set(name, window);
    }
    window.count++;
    return window.count > this.#maximum ? window.began + this.#windowMs - now : 0;
  }

  /** Whether the next would be one too many. */
  isFull(name: string, now: number): boolean {
    return (this.#windowOf(name, now)?.count ?? 0) >= this.#maximum;
  }

  /** The window that runs; nothing where none does. */
  #windowOf(name: string, now: number): { began: number; count: number } | undefined {
    const window = this.#windows.get(name);
    return window && now < window.began + this.#windowMs ? window : undefined;
  }
}
