// Waiting for what is to happen, on a machine that may stand still meanwhile.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/** How long what merely is to happen may take, in milliseconds. */
const PATIENCE_MS = 30_000;
const LOOK_EACH_MS = 10;
/** What one look counts for at most where a promise of time is held: beyond it this process, or what it asks, stood still or was busy. */
const LOOK_AT_MOST_MS = 30;

/** Looks until something holds; fails after half a minute or what else it is given, with what `told` says by then. */
export async function eventually(
  holds: () => Promise<boolean> | boolean,
  told = () => `never: ${holds}`,
  withinMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, told());
    await sleep(LOOK_EACH_MS);
  }
}

/** Looks until it sees what is wanted; fails with what it sees instead, once its looks have taken `ms` together. */
export async function becomes<T>(wanted: T, look: () => Promise<T> | T, ms: number): Promise<void> {
  for (let spent = 0; ; ) {
    const begun = performance.now();
    const seen = await look();
    if (isDeepStrictEqual(seen, wanted)) return;
    if (spent >= ms) assert.deepEqual(seen, wanted, `not within ${ms} ms`);
    await sleep(LOOK_EACH_MS);
    spent += Math.min(performance.now() - begun, LOOK_AT_MOST_MS);
  }
}
