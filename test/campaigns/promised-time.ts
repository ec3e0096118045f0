// Waiting for what the service promises within a time: only campaigns do, because a machine that is busy enough breaks any such promise.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { awakeMs } from '../support/awake.ts';

const LOOK_EACH_MS = 10;
/** What one look counts for at most: beyond it this process, or what it asks, stood still or was busy. */
const LOOK_AT_MOST_MS = 30;

/** Looks until something holds; fails after so many milliseconds in which this process did not stand still, with what `told` says by then. */
export async function holdsWithin(
  ms: number,
  holds: () => Promise<boolean> | boolean,
  told: () => string,
): Promise<void> {
  const deadline = awakeMs() + ms;
  while (!(await holds())) {
    assert.ok(awakeMs() < deadline, told());
    await sleep(LOOK_EACH_MS);
  }
}

/**
 * Looks until it sees what is wanted; fails with what it sees instead, once its looks have taken `ms` together. Returns what they took.
 */
export async function becomesWithin<T>(ms: number, wanted: T, look: () => Promise<T> | T): Promise<number> {
  for (let spent = 0; ; ) {
    const begun = performance.now();
    const seen = await look();
    if (isDeepStrictEqual(seen, wanted)) return spent;
    if (spent >= ms) assert.deepEqual(seen, wanted, `not within ${ms} ms`);
    await sleep(LOOK_EACH_MS);
    spent += Math.min(performance.now() - begun, LOOK_AT_MOST_MS);
  }
}
