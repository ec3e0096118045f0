// Reads measurements: one that fails is logged, and one that costs much is read at most once a minute.
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../lib/log.ts';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../lib/time.ts';

/** Returns a read that logs a failure, and gives `failed` then. `what` names the measurement. */
export const measured =
  <T, F = undefined>(log: Logger, what: string, read: () => Promise<T>, failed?: F) =>
  (): Promise<T | F> =>
    read().catch((error) => {
      log.warn({ err: error }, `${what} could not be measured`);
      return failed as F;
    });

/**
 * Returns a function that gives the value read last, and reads again if that was a minute ago. The first time it waits for the read, a
 * second at most.
 */
export function rarely<T>(read: () => Promise<T>): () => Promise<T | undefined> | T {
  let known: { value: T } | undefined;
  let underWay: Promise<T> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (!underWay && monotonicMs() - readAt >= MINUTE_MS) {
      readAt = monotonicMs();
      underWay = read()
        .then((value) => {
          known = { value };
          return value;
        })
        .finally(() => {
          underWay = undefined;
        });
    }
    return known ? known.value : Promise.race([underWay, pause(SECOND_MS, undefined, { ref: false })]);
  };
}
