// Time without that in which this process stood still: a machine that is stopped makes nobody wait.

const TICK_MS = 10;
/** Less is how timers are late. */
const STILL_MS = 50;

let seenAt = performance.now();
let had = threadMs();
let stillMs = 0;

/**
 * Milliseconds since any moment, for how long something takes in this process or as it sees it: they go on while it waits for its sockets
 * and timers and while it is at work, and stop where it was due and had no processor. Another process that stands still is waited for. A
 * call that blocks this one without work, as SQLite's wait for a lock does, is taken for standing still: measure that by the clock.
 */
export function awakeMs(): number {
  const now = performance.now();
  const lostMs = now - seenAt - TICK_MS - (threadMs() - had);
  if (lostMs > STILL_MS) stillMs += lostMs;
  seenAt = now;
  had = threadMs();
  return now - stillMs;
}
setInterval(awakeMs, TICK_MS).unref();

/** Milliseconds of a processor that this thread has had, to some ten, for what work costs, whoever else is at work. */
export function threadMs(): number {
  return milliseconds(process.threadCpuUsage());
}

/** The same of all threads of this process, and exact. */
export function processMs(): number {
  return milliseconds(process.cpuUsage());
}

function milliseconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}
