// Time without that in which this process stood still: a machine that is stopped makes nobody wait.

const TICK_MS = 10;
/** Less is how timers are late. */
const STILL_MS = 50;

let seenAt = performance.now();
let had = process.threadCpuUsage();
let stillMs = 0;

/**
 * Milliseconds since any moment, for how long something in this process takes: they go on while it waits for its sockets and timers and
 * while it is at work, and stop where it was due and had no processor.
 */
export function awakeMs(): number {
  const now = performance.now();
  const { user, system } = process.threadCpuUsage(had);
  const lostMs = now - seenAt - TICK_MS - (user + system) / 1000;
  if (lostMs > STILL_MS) stillMs += lostMs;
  seenAt = now;
  had = process.threadCpuUsage();
  return now - stillMs;
}
setInterval(awakeMs, TICK_MS).unref();
