// Chance that can be had again: every choice of a campaign follows from a seed that its first line prints.
import { randomInt } from 'node:crypto';

const SEEDS = 2 ** 31;

/** A generator of 32-bit state (mulberry32): small, and good enough to choose among tests' moves. */
export class SeededRandom {
  readonly seed: number;
  #state: number;

  /** Takes the seed given, else `COUNTERFOIL_SEED`, else a fresh one. */
  constructor(seed?: number) {
    this.seed = seed ?? (Number(process.env.COUNTERFOIL_SEED) || randomInt(1, SEEDS));
    this.#state = this.seed;
  }

  /** A number from 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('nothing to pick from');
    return list[this.between(0, list.length - 1)]!;
  }

  /** The same things in a random order (Fisher and Yates). */
  shuffled<T>(list: readonly T[]): T[] {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const other = this.between(0, i);
      [copy[i], copy[other]] = [copy[other]!, copy[i]!];
    }
    return copy;
  }
}
