// Promises about time, held on a machine that may stand still: whoever stands still keeps none.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EACH_MS = 10;
/** What one look counts for at most: beyond it this process, or what it asks, stood still. */
const LOOK_AT_MOST_MS = 30;

/** Answers when `holds` does; fails when that takes longer than `ms` of time in which something was at work. */
export async function within(ms: number, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let spent = 0; ; ) {
    const begun = performance.now();
    if (await holds()) return;
    assert.ok(spent < ms, `not within ${ms} ms: ${holds}`);
    await sleep(LOOK_EACH_MS);
    spent += Math.min(performance.now() - begun, LOOK_AT_MOST_MS);
  }
}
