// What hostile input may cost: about as much more as it is longer, on a machine of any speed.
import assert from 'node:assert/strict';
import { threadMs } from './awake.ts';

const TIMES_LONGER = 4;
/** Between that and its square, which is 16. */
const TIMES_DEARER = 8;
/** What one run may cost on any machine that serves people. */
const MOST_MS = 5000;
const RUNS = 3;
/** The processor time of a run, in which work that costs less is done again and again. */
const RUN_MS = 50;

/** What work costs at least, by the best of some runs each, on input of a quarter of a length and of all of it: milliseconds. */
async function costs(work: (length: number) => unknown, length: number): Promise<[number, number]> {
  const best: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < RUNS; run++)
    for (const [i, long] of [length / TIMES_LONGER, length].entries()) {
      const begun = threadMs();
      let done = 0;
      let ms = 0;
      for (; ms < RUN_MS; ms = threadMs() - begun) {
        await work(long);
        done += 1;
      }
      best[i] = Math.min(best[i]!, ms / done);
    }
  return best;
}

/** Fails where work in this thread costs more than its input is longer; `length` is that of the longest there may be. */
export async function assertLinear(
  work: (length: number) => unknown,
  length: number,
  label?: string,
): Promise<void> {
  const [short, long] = await costs(work, length);
  const told = `${label ?? work}: ${long} ms for ${length}, ${short} ms for a quarter`;
  assert.ok(long < TIMES_DEARER * short && long < MOST_MS, told);
}
