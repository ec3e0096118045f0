// The clock of a process: the machine's at its start, carried on by what never jumps, and kept near the machine's from then on.

/** What the machine's clock differs by beyond this, in milliseconds, was set; less is how clocks drift. */
export const STEP_MS = 500;
/** A step forward is followed when it has stood for so long: the machine slept, or its clock was corrected. */
const BELIEVED_MS = 60_000;
/** All else is made good slowly, within about this time, and so that no second is off by more than its 2000th part. */
const MADE_GOOD_MS = 60_000;
const SLOWLY = 1 / 2000;
/** A look during which the process stood still for longer than this says nothing. */
const LOOK_MS = 50;

/** What a look at the machine's clock found, in milliseconds. */
export interface ClockStep {
  /** By how much it was set since the look before: forward, or back where negative; 0 where it was not. */
  set: number;
  /** How far it is ahead of this clock now; negative where it is behind. */
  ahead: number;
  /** How far this clock went forward at once, to follow it; 0 where it did not. */
  followed: number;
}

/**
 * Never runs backwards. What ends by it neither ends early because the machine's clock was set forward and soon put right, nor goes
 * on because that clock was set back.
 */
export class SteadyClock {
  readonly #wall: () => number;
  readonly #monotonic: () => number;
  /** The last look, by the monotonic clock; what this clock said then, and how many milliseconds it counts for one since. */
  #lookedAt: number;
  #said: number;
  #pace = 1;
  #ahead = 0;
  /** The step forward that is not believed yet: since when it stands, and the least that it was. */
  #doubted: { since: number; least: number } | undefined;

  /**
   * `wall` gives milliseconds since 1970 by a clock that may be set at any time, `monotonic` milliseconds since any moment by one
   * that only goes forward.
   */
  constructor(wall: () => number, monotonic: () => number) {
    this.#wall = wall;
    this.#monotonic = monotonic;
    this.#lookedAt = monotonic();
    this.#said = wall();
  }

  /** Whole milliseconds since 1970. */
  now(): number {
    return Math.floor(this.#at(this.#monotonic()));
  }

  /** The machine's clock, in milliseconds since 1970. */
  wall(): number {
    return this.#wall();
  }

  #at(monotonic: number): number {
    return this.#said + (monotonic - this.#lookedAt) * this.#pace;
  }

  /** How far the machine's clock was ahead at the last look, in milliseconds; negative where it was behind. */
  get ahead(): number {
    return this.#ahead;
  }

  /** Compares this clock with the machine's. Call it about each second. Returns a step that is worth a line in the log, or undefined. */
  look(): ClockStep | undefined {
    const at = this.#monotonic();
    const said = this.#at(at);
    const found = this.#wall() - said;
    if (this.#monotonic() - at > LOOK_MS) return undefined;
    const set = Math.abs(found - this.#ahead) > STEP_MS ? found - this.#ahead : 0;
    const followed = this.#believed(found, at);
    const ahead = found - followed;
    this.#lookedAt = at;
    this.#said = said + followed;
    this.#pace = 1 + Math.max(-SLOWLY, Math.min(ahead / MADE_GOOD_MS, SLOWLY));
    this.#ahead = ahead;
    return set === 0 && followed === 0 ? undefined : { set, ahead, followed };
  }

  /** The lead of the machine's clock that has lasted for a minute: the least lead in that time. */
  #believed(found: number, at: number): number {
    if (found <= STEP_MS) {
      this.#doubted = undefined;
      return 0;
    }
    const { since, least } = this.#doubted ?? { since: at, least: found };
    const doubted = { since, least: Math.min(least, found) };
    const isBelieved = at - since >= BELIEVED_MS;
    this.#doubted = isBelieved ? undefined : doubted;
    return isBelieved ? doubted.least : 0;
  }
}
