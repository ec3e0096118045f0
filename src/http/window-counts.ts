// How often something was done within a window of time that begins with the first of it, by name. In memory; each node has its own.
import { LRUCache } from 'lru-cache';

/** How many names are remembered; beyond that, those counted longest ago are forgotten. */
const REMEMBERED = 20_000;

export class WindowCounts {
  readonly #maximum: number;
  readonly #windowMs: number;
  /** Made with the first: it takes the room of all at once. */
  #windows: LRUCache<string, { began: number; count: number }> | undefined;

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
      this.#windows ??= new LRUCache({ max: REMEMBERED });
      this.#windows.set(name, window);
    }
    window.count++;
    return window.count > this.#maximum ? window.began + this.#windowMs - now : 0;
  }

  /** Takes one back that was counted and turned out to be none. */
  takeBack(name: string, now: number): void {
    const window = this.#windowOf(name, now);
    if (window) window.count--;
  }

  /** Whether the next would be one too many. */
  isFull(name: string, now: number): boolean {
    return (this.#windowOf(name, now)?.count ?? 0) >= this.#maximum;
  }

  /** The window that runs; nothing where none does. */
  #windowOf(name: string, now: number): { began: number; count: number } | undefined {
    const window = this.#windows?.get(name);
    return window && now < window.began + this.#windowMs ? window : undefined;
  }
}
