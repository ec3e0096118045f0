// Waiting for what is to happen, on a machine that may stand still meanwhile: there is no bound but the test's own.
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, isDeepStrictEqual } from 'node:util';

/** Between two looks: most things happen at once, and a look at what takes long costs more than it finds. */
const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 80;
export const LONGER_THAN_A_TEST_MS = 600_000;

/** What is waited for now, as it would be told. */
const waited = new Set<() => string>();

/** Looks until something holds. `told` says what is missing, where the test's time ends before. */
export async function eventually(
  holds: () => Promise<boolean> | boolean,
  told = () => `never: ${holds}`,
): Promise<void> {
  waited.add(told);
  try {
    for (let ms = FIRST_LOOK_MS; !(await holds()); ms = Math.min(2 * ms, LAST_LOOK_MS)) await sleep(ms);
  } finally {
    waited.delete(told);
  }
}

/** Looks until what it sees is done. Returns what it sees then. */
export async function until<T>(
  look: () => Promise<T> | T,
  isDone: (seen: T) => boolean,
  wanted: unknown = isDone,
): Promise<T> {
  let seen: T;
  await eventually(
    async () => {
      seen = await look();
      return isDone(seen);
    },
    () => `${inspect(wanted)} was waited for, and there is ${inspect(seen)}`,
  );
  return seen!;
}

/** Looks until it sees what is wanted. */
export async function becomes<T>(wanted: T, look: () => Promise<T> | T): Promise<void> {
  await until(look, (seen) => isDeepStrictEqual(seen, wanted), wanted);
}

/** What all that waits in this process waits for. */
export function waitedFor(): string[] {
  return [...waited].map((told) => told());
}

/** Lets nothing in this process go on for `ms`, as a machine does that is paused. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
