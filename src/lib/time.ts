// The only reader of the clock, and the one way a moment is written.
import { LRUCache } from 'lru-cache';
import { SteadyClock } from './steady-clock.ts';

/**
 * Where the time comes from: milliseconds since 1970-01-01T00:00:00Z, never fewer than before in the same process. Tests hand in one
 * they can move.
 */
export interface Clock {
  now(): number;
  /** The machine's clock, which may have been set back since; left out where it is the same. */
  wall?(): number;
}

/** What other machines hold against their own clock, such as the time of a signature: right as soon as this machine's clock is. */
export const machineTime = (clock: Clock): number => Math.floor(clock.wall?.() ?? clock.now());

/** The time of this process. It begins with the machine's; a long-lived process has it looked after by `watchClock`. */
export const systemClock = new SteadyClock(() => Date.now(), monotonicMs);

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Days since 1970 as written, `2026-11-20T`: the calendar is asked once for each. */
const DATES = new Map<number, string>();
const DATES_MAXIMUM = 1000;

function dateOf(day: number): string {
  let date = DATES.get(day);
  if (date === undefined) {
    if (DATES.size === DATES_MAXIMUM) DATES.clear();
    date = new Date(day * DAY_MS).toISOString().slice(0, -13);
    DATES.set(day, date);
  }
  return date;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

/** ISO 8601 with a numeric offset and whole seconds: `2026-11-20T23:17:00+00:00`. Takes milliseconds since 1970. */
export function formatTimestamp(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  const rest = ms - day * DAY_MS;
  const hours = TWO_DIGITS[Math.floor(rest / HOUR_MS)];
  const minutes = TWO_DIGITS[Math.floor(rest / MINUTE_MS) % 60];
  const seconds = TWO_DIGITS[Math.floor(rest / SECOND_MS) % 60];
  return `${dateOf(day)}${hours}:${minutes}:${seconds}+00:00`;
}

const QUARTER_MS = 15 * MINUTE_MS;
/** Offsets of quarters of an hour, which no zone changes within, by time zone and quarter. */
const OFFSETS = new LRUCache<string, { ms: number; text: string }>({
  max: 5000,
  memoMethod(name) {
    const [timeZone, quarter] = name.split(' ') as [string, string];
    const zoned = Temporal.Instant.fromEpochMilliseconds(Number(quarter)).toZonedDateTimeISO(timeZone);
    return { ms: zoned.offsetNanoseconds / 1e6, text: zoned.offset };
  },
});

/** The same with the offset of a time zone: `2026-11-27T00:04:00+01:00`. */
export function formatTimestampIn(timeZone: string, ms: number): string {
  const quarter = Math.floor(ms / QUARTER_MS) * QUARTER_MS;
  const offset = OFFSETS.memo(`${timeZone} ${quarter}`);
  return formatTimestamp(ms + offset.ms).slice(0, -6) + offset.text;
}

/** The same; null for a moment that is not known. */
export const timestampOrNull = (ms: number | null | undefined) => (ms == null ? null : formatTimestamp(ms));

/** The same with milliseconds, for logs: `2026-11-20T23:17:00.042+00:00`. */
export function formatTimestampMs(ms: number): string {
  return `${formatTimestamp(ms).slice(0, 19)}.${String(ms % SECOND_MS).padStart(3, '0')}+00:00`;
}

/** Milliseconds, fractions kept, that never run backwards; for measuring how long something took. */
export function monotonicMs(): number {
  return performance.now();
}

/** Whether `name` is a time zone of the IANA database that this system knows. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Writes dates in a time zone. Canada's way to write a date in English is ISO 8601. */
const ZONES_MAXIMUM = 500;
const dayFormats = new LRUCache<string, Intl.DateTimeFormat>({
  max: ZONES_MAXIMUM,
  memoMethod: (timeZone) =>
    new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }),
});

/** The date that a moment (milliseconds since 1970) has in a time zone: `2026-11-20`. */
export const dateIn = (timeZone: string, ms: number): string => dayFormats.memo(timeZone).format(ms);

/**
 * The last `days` days of a time zone, today the last of them: each with its date and the moment it began (milliseconds since
 * 1970). Days are not all of 24 hours.
 */
export function lastDays(timeZone: string, now: number, days: number): { date: string; start: number }[] {
  const found: { date: string; start: number }[] = [];
  for (let moment = now; found.length < days; ) {
    const start = dayStart(timeZone, moment);
    found.unshift({ date: dateIn(timeZone, start), start });
    moment = start - 1;
  }
  return found;
}

/** When the day of a moment began: by halving, since a day may begin at any minute and not at midnight. */
function dayStart(timeZone: string, ms: number): number {
  const date = dateIn(timeZone, ms);
  let before = ms - 2 * DAY_MS;
  let within = ms;
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (dateIn(timeZone, middle) < date) before = middle;
    else within = middle;
  }
  return within;
}

/** The first moment of a day written as `2026-11-20` in a time zone, and of the day after it. Undefined if there is no such day. */
export function dayBounds(date: string, timeZone: string): { from: number; to: number } | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return undefined;
  try {
    const day = Temporal.PlainDate.from(date);
    const begins = (one: typeof day) => one.toZonedDateTime(timeZone).epochMilliseconds;
    return { from: begins(day), to: begins(day.add({ days: 1 })) };
  } catch {
    return undefined;
  }
}

/** Whole days from one day to another, both written as `2026-11-20`: negative if the other is earlier. NaN if one of them is no day. */
export const daysFrom = (one: string, other: string): number =>
  Math.round((Date.parse(other) - Date.parse(one)) / DAY_MS);

/** The day before a day written as `2026-11-20`, and the day after it. */
export const dayBefore = (date: string): string =>
  Temporal.PlainDate.from(date).subtract({ days: 1 }).toString();
export const dayAfter = (date: string): string => Temporal.PlainDate.from(date).add({ days: 1 }).toString();

/** A length of time in the two units that matter: `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  if (ms < MINUTE_MS) return 'under 1 min';
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  const units = days > 0 ? ([days, 'd', hours, 'h'] as const) : ([hours, 'h', minutes, 'min'] as const);
  const [many, large, few, small] = units;
  return [many > 0 && `${many} ${large}`, few > 0 && `${few} ${small}`].filter(Boolean).join(' ');
}

/** How long before `now` something was, both in milliseconds since 1970: `3 min ago`. */
export function ago(ms: number, now: number): string {
  return `${duration(Math.max(0, now - ms))} ago`;
}

/** The number of parts of a timeout. */
const PARTS = 4;

/**
 * What `promise` gives within `ms` milliseconds, else what `late` does. Rejects as `promise` does; an error after that time is ignored.
 * Timers fire before sockets are read, so the time is waited for in parts: a process that stood still loses one part at most, and hears
 * what has come by then.
 */
export function inTime<T>(ms: number, promise: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<T>((resolve) => {
    let passed = 0;
    timer = setInterval(() => ++passed === PARTS && setImmediate(() => resolve(late())), ms / PARTS);
  });
  return Promise.race([promise, expired]).finally(() => clearInterval(timer));
}
