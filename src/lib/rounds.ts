// Rounds of a work: again after each interval, soon after it is woken, never two at once, and once more at the stop.
import type { Logger } from './log.ts';
import { MINUTE_MS, monotonicMs } from './time.ts';

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

/**
 * Returns a function that starts a run of `work` when the run before has ended, and resolves when its own has. A failure is logged as
 * a warning, `message`. Runs that fail one after the other are logged once a minute, so that they do not fill the log.
 */
export function inSequence(
  work: () => Promise<void>,
  log: Pick<Logger, 'warn'>,
  message: string,
): () => Promise<void> {
  let last = Promise.resolve();
  let loggedAt = -Infinity;
  async function run(): Promise<void> {
    try {
      await work();
      loggedAt = -Infinity;
    } catch (error) {
      if (monotonicMs() - loggedAt < MINUTE_MS) return;
      loggedAt = monotonicMs();
      log.warn({ err: error }, message);
    }
  }
  return () => {
    last = last.then(run);
    return last;
  };
}
