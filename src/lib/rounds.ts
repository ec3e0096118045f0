// Runs a round of work again and again: after each interval, and soon after it is woken. Never two at once.

/** A wake waits this long, so that what is committed in the next moment comes along. */
const GATHER_MS = 50;

export class Rounds {
  readonly #round: () => Promise<void>;
  readonly #everyMs: number;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSoon = false;
  #hasEnded = false;

  /** `round` never rejects. It runs `everyMs` milliseconds after the end of the one before. */
  constructor(round: () => Promise<void>, everyMs: number) {
    this.#round = round;
    this.#everyMs = everyMs;
  }

  /** Runs the first round at once. */
  start(): void {
    this.#timer = setTimeout(() => this.#run(), 0);
  }

  /** Runs the next round soon. Further wakes do not put it off. */
  wake(): void {
    if (!this.#timer || this.#running || this.#isSoon) return;
    clearTimeout(this.#timer);
    this.#isSoon = true;
    this.#timer = setTimeout(() => this.#run(), GATHER_MS);
  }

  /** Begins no more rounds. Resolves when the one that runs has ended. */
  async stop(): Promise<void> {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#running;
  }

  #run(): void {
    this.#isSoon = false;
    this.#running = this.#round().finally(() => {
      this.#running = undefined;
      if (!this.#hasEnded) this.#timer = setTimeout(() => this.#run(), this.#everyMs);
    });
  }
}
