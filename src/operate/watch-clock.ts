// Holds the service's time against the machine's clock each second, and says in the log when that one was set.
import type { Logger } from '../lib/log.ts';
import { type ClockStep, STEP_MS, type SteadyClock } from '../lib/steady-clock.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/time.ts';

const EVERY_MS = SECOND_MS;
/** A service whose time is so far ahead nears the clock in weeks. So the warning is logged each hour until a restart. */
const AHEAD_MS = MINUTE_MS;
const REMIND_EACH_MS = HOUR_MS;

/** Watches until the process ends, which it does not keep from ending. */
export function watchClock(clock: SteadyClock, log: Pick<Logger, 'warn'>): void {
  setInterval(() => {
    const step = clock.look();
    if (step) tell(step, log);
  }, EVERY_MS).unref();
  setInterval(() => {
    if (clock.ahead < -AHEAD_MS)
      log.warn(
        { ahead_s: inSeconds(clock.ahead) },
        'the service is ahead of the system clock: restart it to take that over',
      );
  }, REMIND_EACH_MS).unref();
}

const inSeconds = (ms: number) => Math.round(ms / 100) / 10;

function tell({ set, ahead, followed }: ClockStep, log: Pick<Logger, 'warn'>): void {
  const ahead_s = inSeconds(ahead);
  if (set !== 0) {
    const fields = { set_by_s: inSeconds(set), ahead_s };
    if (Math.abs(ahead) <= STEP_MS) log.warn(fields, 'the system clock was set and is right again');
    else if (ahead > 0)
      log.warn(fields, 'the system clock was set forward: it is followed in a minute if it stays so');
    else log.warn(fields, 'the system clock was set back: the service goes on without it');
  }
  if (followed > 0)
    log.warn({ followed_s: inSeconds(followed), ahead_s }, 'the service follows the system clock forward');
}
