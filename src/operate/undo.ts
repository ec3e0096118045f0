// What a start has begun, to be ended in reverse: at the stop, or where the start itself fails.
import type { Logger } from '../lib/log.ts';

export class Undo {
  readonly #steps: (() => unknown)[] = [];
  readonly #log: Pick<Logger, 'error'>;

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** Adds a step, which comes before those that were added before it. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Takes all steps, each once, one after the other. Throws nothing: what a step throws is logged. */
  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        this.#log.error({ err: error }, 'a step of the stop failed'); // the others are owed theirs
      }
    }
  }
}
