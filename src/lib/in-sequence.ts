// Runs of one work, one after the other: what is written from time to time and once more at the stop.
import type { Logger } from './log.ts';

/**
 * Returns a function that starts a run of `work` when the run before has ended, and resolves when its own has. A failure is logged as
 * a warning, `message`.
 */
export function inSequence(
  work: () => Promise<void>,
  log: Pick<Logger, 'warn'>,
  message: string,
): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => work().catch((error) => log.warn({ err: error }, message)));
    return last;
  };
}
