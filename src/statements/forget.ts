// Erases the lines of statements that are older than the operator keeps them, every hour.
import type { Journal } from '../journal/journal.ts';
import { inSequence } from '../lib/in-sequence.ts';
import type { Logger } from '../lib/log.ts';
import { type Clock, DAY_MS, dateIn, HOUR_MS } from '../lib/time.ts';
import { eraseOldLines, eraseOldRules } from './erase.ts';

/**
 * Erases what lines of more than `keepDays` days ago say, and rules that ended as long ago. Returns how many those were. Throws as
 * `Journal.commit` does.
 */
export async function forgetOldLines(journal: Journal, clock: Clock, keepDays: number): Promise<number> {
  const before = clock.now() - keepDays * DAY_MS;
  const day = dateIn('UTC', before);
  let all = 0;
  for (let erased = -1; erased !== 0; all += erased)
    erased = await journal.commitAside(
      async (transaction) =>
        (await eraseOldLines(transaction, day)) + (await eraseOldRules(transaction, before)),
    );
  return all;
}

/** Erases old lines every hour until stopped; never if `keepDays` is null. */
export function startForgetting(
  journal: Journal,
  clock: Clock,
  log: Logger,
  keepDays: number | null,
): { stop(): Promise<void> } {
  if (keepDays === null) return { stop: async () => {} };
  const forget = inSequence(
    async () => void (await forgetOldLines(journal, clock, keepDays)),
    log,
    'old statement lines are erased later',
  );
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = forget();
  }, HOUR_MS);
  return {
    stop() {
      clearInterval(timer);
      return running;
    },
  };
}
