// Bank days: the days of a calendar on which transfers are booked.
import { LRUCache } from 'lru-cache';
import { dateIn } from './time.ts';

/** Days are written as `2026-11-20`. */
type Day = string;

/**
 * Closing days: `12-25` a date, `easter+1` days after Easter Sunday, `05/1/-1` the last Monday of May (month, weekday from
 * Monday 1, which of them), `06-19/5` the first Friday from 19 June. `+` behind a date moves it from a weekend to the next
 * working day, `*` from a Sunday.
 */
const TARGET = ['01-01', 'easter-2', 'easter+1', '05-01', '12-25', '12-26'];
const UNITED_KINGDOM = ['01-01+', 'easter-2', 'easter+1', '05/1/1', '05/1/-1', '08/1/-1', '12-25+', '12-26+'];
const UNITED_STATES = [
  '01-01*',
  '01/1/3',
  '02/1/3',
  '05/1/-1',
  '06-19*',
  '07-04*',
  '09/1/1',
  '10/1/2',
  '11-11*',
  '11/4/4',
  '12-25*',
];

/** The closing days of TARGET (European Central Bank) with those that a country has besides. */
const besides = (...days: string[]) => [...TARGET, ...days];

/** The closing days of each calendar in the whole of its country. `none`: every day counts, weekends too. */
const CLOSED = {
  none: [],
  TARGET,
  AT: besides('01-06', 'easter+39', 'easter+50', 'easter+60', '08-15', '10-26', '11-01', '12-08'),
  BE: besides('easter+39', 'easter+50', '07-21', '08-15', '11-01', '11-11'),
  CH: besides('01-02', 'easter+39', 'easter+50', '08-01'),
  CZ: besides('05-08', '07-05', '07-06', '09-28', '10-28', '11-17', '12-24'),
  DE: besides('easter+39', 'easter+50', '10-03'),
  DK: besides('easter-3', 'easter+39', 'easter+40', 'easter+50', '06-05', '12-24', '12-31'),
  ES: besides('01-06', '08-15', '10-12', '11-01', '12-06', '12-08'),
  FI: besides('01-06', 'easter+39', '06-19/5', '12-06', '12-24'),
  FR: besides('05-08', 'easter+39', 'easter+50', '07-14', '08-15', '11-01', '11-11'),
  GB: UNITED_KINGDOM,
  IE: besides('02/1/1', '03-17', '05/1/1', '06/1/1', '08/1/1', '10/1/-1'),
  IT: besides('01-06', '04-25', '06-02', '08-15', '11-01', '12-08'),
  LU: besides('05-09', 'easter+39', 'easter+50', '06-23', '08-15', '11-01'),
  NL: besides('easter+39', 'easter+50'),
  NO: besides('easter-3', 'easter+39', 'easter+50', '05-17'),
  PL: besides('01-06', '05-03', 'easter+60', '08-15', '11-01', '11-11', '12-24'),
  PT: besides('04-25', 'easter+60', '06-10', '08-15', '10-05', '11-01', '12-01', '12-08'),
  SE: besides('01-06', 'easter+39', '06-06', '06-19/5', '12-24', '12-31'),
  US: UNITED_STATES,
} as const satisfies Record<string, readonly string[]>;
export type Calendar = keyof typeof CLOSED;
export const CALENDARS = Object.keys(CLOSED) as Calendar[];

const SATURDAY = 6;
const DAYS_OF_WEEK = 7;
const isWeekend = (date: Temporal.PlainDate) => date.dayOfWeek >= SATURDAY;

/** Easter Sunday of a year in the Gregorian calendar: the algorithm of Meeus, Jones and Butcher. */
function easter(year: number): Temporal.PlainDate {
  const golden = year % 19;
  const century = Math.floor(year / 100);
  const ofCentury = year % 100;
  const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const epact = (19 * golden + century - Math.floor(century / 4) - correction + 15) % 30;
  const leap = (32 + 2 * (century % 4) + 2 * Math.floor(ofCentury / 4) - epact - (ofCentury % 4)) % 7;
  const late = Math.floor((golden + 11 * epact + 22 * leap) / 451);
  const days = epact + leap - 7 * late + 114;
  return Temporal.PlainDate.from({ year, month: Math.floor(days / 31), day: (days % 31) + 1 });
}

/** The first `weekday` (Monday 1) from `from` on. */
const weekdayFrom = (from: Temporal.PlainDate, weekday: number) =>
  from.add({ days: (weekday - from.dayOfWeek + DAYS_OF_WEEK) % DAYS_OF_WEEK });

function closingDay(rule: string, year: number, before: ReadonlySet<Day>): Temporal.PlainDate {
  const [, afterEaster] = /^easter([+-]\d+)$/.exec(rule) ?? [];
  if (afterEaster !== undefined) return easter(year).add({ days: Number(afterEaster) });
  const [, month, weekday, which] = /^(\d\d)\/(\d)\/(-?\d)$/.exec(rule) ?? [];
  if (month !== undefined) {
    const first = Temporal.PlainDate.from({ year, month: Number(month), day: 1 });
    // The last of a month is the one before the first of the next month.
    const from = Number(which) > 0 ? first : first.add({ months: 1 });
    const weeks = Number(which) > 0 ? Number(which) - 1 : Number(which);
    return weekdayFrom(from, Number(weekday)).add({ weeks });
  }
  let date = Temporal.PlainDate.from(`${year}-${rule.slice(0, 5)}`);
  if (rule[5] === '/') return weekdayFrom(date, Number(rule[6]));
  if (rule[5] === '*' && date.dayOfWeek === DAYS_OF_WEEK) return date.add({ days: 1 });
  while (rule[5] === '+' && (isWeekend(date) || before.has(date.toString()))) date = date.add({ days: 1 });
  return date;
}

/** The closing days of a calendar and a year: `DE 2026`. */
const closedDays = new LRUCache<string, ReadonlySet<Day>>({
  max: 200,
  memoMethod(name) {
    const [calendar, year] = name.split(' ') as [Calendar, string];
    const found = new Set<Day>();
    for (const rule of CLOSED[calendar]) found.add(closingDay(rule, Number(year), found).toString());
    return found;
  },
});

/** Whether banks book transfers on a day. */
export const isBankDay = (day: Day, calendar: Calendar): boolean =>
  isBankDate(Temporal.PlainDate.from(day), calendar);

const isBankDate = (date: Temporal.PlainDate, calendar: Calendar) =>
  calendar === 'none' ||
  !(isWeekend(date) || closedDays.memo(`${calendar} ${date.year}`).has(date.toString()));

/** Each create asks for the same few days: counting them anew took a twelfth of its time. */
const counted = new LRUCache<string, Day>({
  max: 1000,
  memoMethod(name) {
    const [day, count, calendar] = name.split(' ') as [Day, string, Calendar];
    return countBankDays(day, Number(count), calendar);
  },
});

/**
 * The bank day that lies `count` bank days after a day, or before it where `count` is below zero. With 0 the day itself if it
 * is a bank day, else the next one.
 */
export const addBankDays = (day: Day, count: number, calendar: Calendar): Day =>
  counted.memo(`${day} ${count} ${calendar}`);

function countBankDays(day: Day, count: number, calendar: Calendar): Day {
  const step = { days: count < 0 ? -1 : 1 };
  let date = Temporal.PlainDate.from(day);
  let left = Math.abs(count);
  if (count !== 0) date = date.add(step);
  for (; ; date = date.add(step)) if (isBankDate(date, calendar) && --left <= 0) return date.toString();
}

/**
 * Where a bank's day (empty if unknown) lies beside a link that is open from `from` to `to`, milliseconds since 1970. Banks name days and
 * no moments, so the whole last day is in time. Where banks book nothing on that day, the next bank day of `calendar` is the last one: a
 * transfer made at the weekend is booked on Monday.
 */
export function placeOfDay(
  day: Day,
  { from, to }: { from: number; to: number },
  timeZone: string,
  calendar: Calendar,
): 'none' | 'before' | 'in_time' | 'after' {
  if (Number.isNaN(Date.parse(day))) return 'none';
  if (day < dateIn(timeZone, from)) return 'before';
  return day > addBankDays(dateIn(timeZone, to), 0, calendar) ? 'after' : 'in_time';
}
