// The one way in which people read a day and a clock time: in the language of the page, in the configured time zone, with its name.
import { LRUCache } from 'lru-cache';
import { dateIn, MINUTE_MS } from './time.ts';

/** The language of the console, the command line and messages of errors. */
const OPERATORS = 'en-GB';

const DAY = { year: 'numeric', month: 'short', day: 'numeric' } as const;
const clockIn = (timeZone: string): Intl.DateTimeFormatOptions => ({
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone,
  // An offset in every language. The short name is one only in some: `MESZ` in German is `GMT+2` in Japanese.
  timeZoneName: timeZone === 'UTC' ? 'short' : 'shortOffset',
});

/** How each is written in a time zone. */
const FORMS = {
  day: () => ({ ...DAY, timeZone: 'UTC' }),
  moment: (timeZone) => ({ ...DAY, ...clockIn(timeZone) }),
  clock: clockIn,
  second: (timeZone) => ({ ...clockIn(timeZone), second: '2-digit' }),
} as const satisfies Record<string, (timeZone: string) => Intl.DateTimeFormatOptions>;
type Form = keyof typeof FORMS;

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\+00:00/g;

/** Payments of one minute end in one minute, so most moments come again. */
const REMEMBERED = 1000;
const WRITERS = 100;

/** Writes days and moments for people in one language and time zone. Formats are made when they are first used: that takes a while. */
export class Moments {
  readonly timeZone: string;
  readonly #tag: string;
  readonly #formats = new Map<Form, Intl.DateTimeFormat>();
  readonly #minutes = new LRUCache<number, string>({
    max: REMEMBERED,
    memoMethod: (minute) => this.#written('moment', minute * MINUTE_MS),
  });

  constructor(timeZone: string, tag: string) {
    this.timeZone = timeZone;
    this.#tag = tag;
  }

  #written(form: Form, ms: number): string {
    const known = this.#formats.get(form);
    const format = known ?? new Intl.DateTimeFormat(this.#tag, FORMS[form](this.timeZone));
    if (!known) this.#formats.set(form, format);
    return format.format(ms);
  }

  /** A day, given as `2026-11-20`: `20 Nov 2026`. */
  day(date: string): string {
    return this.#written('day', Date.parse(date));
  }

  /** A moment (milliseconds since 1970) to the minute: `20 Nov 2026, 14:05 GMT+1`. */
  moment(ms: number): string {
    return this.#minutes.memo(Math.floor(ms / MINUTE_MS));
  }

  /** The time of day of a moment: `14:05 GMT+1`. */
  clock(ms: number): string {
    return this.#written('clock', ms);
  }

  /** The time of day of a line of a log, to the second: `14:05:09 GMT+1`. */
  second(ms: number): string {
    return this.#written('second', ms);
  }

  /** A sentence whose instants (`2026-11-20T23:17:00+00:00`), as files and JSON have them, are written as moments. */
  within(sentence: string): string {
    return sentence.replaceAll(INSTANT, (instant) => this.moment(Date.parse(instant)));
  }

  /** The day of a moment: `20 Nov 2026`. */
  dayOf(ms: number): string {
    return this.day(this.dateOf(ms));
  }

  /** The date that a moment has in the time zone: `2026-11-20`. */
  dateOf(ms: number): string {
    return dateIn(this.timeZone, ms);
  }
}

const writers = new LRUCache<string, Moments>({
  max: WRITERS,
  memoMethod(name) {
    const [tag, timeZone] = name.split(' ') as [string, string];
    return new Moments(timeZone, tag);
  },
});

/** The days and moments of a time zone in a language (BCP 47); in that of the console if undefined. */
export const momentsIn = (timeZone: string, tag = OPERATORS): Moments => writers.memo(`${tag} ${timeZone}`);

/** Languages in whose words spreadsheets write days and times. */
const LANGUAGES =
  'ar bg cs da de el en es et fi fr he hi hr hu id it ja ko lt lv nb nl pl pt ro ru sk sl sv th tr uk vi zh'.split(
    ' ',
  );
/** The words of a text in lower case, of each the first letters: as many as tell months and weekdays apart. */
export const wordBeginnings = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []).map((word) => word.slice(0, 3));

/** The beginnings of the words of months, weekdays and times of day in `LANGUAGES`, from the Unicode data of this Node. */
export function momentWords(): string[] {
  const forms = [
    { dateStyle: 'full', timeStyle: 'short', hour12: true },
    { month: 'long' },
    { month: 'short' },
  ] as const;
  const dates = Array.from({ length: 12 }, (_, month) => Date.UTC(2026, month, 1 + 2 * month, 2 * month));
  return LANGUAGES.flatMap((language) =>
    forms.flatMap((form) => {
      const format = new Intl.DateTimeFormat(`${language}-u-nu-latn`, form);
      return dates.flatMap((date) => wordBeginnings(format.format(date)));
    }),
  );
}
