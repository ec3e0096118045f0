// Runs of one work, one after the other: what is written from time to time and once more at the stop.
import type { Logger } from './log.ts';
import { MINUTE_MS, monotonicMs } from './time.ts';

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
