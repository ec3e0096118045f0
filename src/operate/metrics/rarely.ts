// Reads a measurement that costs much at most once a minute.
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../lib/time.ts';

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
