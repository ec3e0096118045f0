// Reads `:61:` of MT940, the line of a statement, with the liberties that banks take: blanks, missing parts, days of a 360-day year.
import { cutToHundredths, dayOf, withoutGroups } from './values.ts';

/** What `:61:` says. */
interface Entry {
  bookingDay: string | undefined;
  valueDay: string | undefined;
  mark: string;
  amountMinor: number;
  beyond: string | undefined;
  /** `NTRF`; undefined if the bank writes none. */
  code: string | undefined;
  /** The account owner's reference, and behind `//` the bank's. */
  owner: string;
  bank: string | undefined;
  /** What was put right, as sentences. */
  notes: string[];
}

/** R for a reversal, E for an expected entry. S and H are German for debit and credit. */
const MARK = /^\s*(RC|RD|EC|ED|C|D|S|H)\s*[A-Z]?\s*(?=[\d.,])/i;
const AMOUNT = /^(?:\d{1,3}([. ',])\d{3}(?:\1\d{3})*(?!\1)[.,]\d{0,2}(?![\d,]|\.\d)|\d+[.,]?\d*|[.,]\d+)/;
/** N, S or F and three characters; some banks write fewer, blanks between or behind, or a point. */
const TYPE = new RegExp(
  String.raw`^\s*(?!NONREF)(?:([A-Z][A-Z0-9]{0,3})(?=\s*NONREF)|([NSF]\s[A-Z0-9]{3})(?=\s|$)|` +
    String.raw`([A-Z][A-Z0-9]{3})|([NSF][A-Z0-9]{0,2}|\.)(?=\s|NONREF|$))\s*`,
);

/** Reads the first row of `:61:`. Returns a sentence that shows the piece that cannot be read. */
export function readEntry(row: string, currency: string): Entry | string {
  const [digits = ''] = /^\d*/.exec(row) ?? [];
  const days = daysOf(digits, /^\s*(\d{4})(?=\s*[A-Z])/.exec(row.slice(digits.length))?.[1]);
  if (typeof days === 'string') return days;
  const afterDays = row.slice(digits.length).replace(/^\s+\d{4}(?=\s*[A-Z])/, '');
  const marked = MARK.exec(afterDays);
  if (!marked) return `its mark "${afterDays.trim().slice(0, 4)}" is none of C, D, RC, RD, EC and ED`;
  const letters = marked[1]!.toUpperCase();
  const behindMark = afterDays.slice(marked[0].length);
  const written = AMOUNT.exec(behindMark)?.[0] ?? '';
  const rest = behindMark.slice(written.length);
  const isWhole = !/^[,\d]|^\.\d|^ \d+[.,]/.test(rest);
  const mark = /[.,](?=\d*$)/.exec(written)?.[0] ?? ',';
  const plain = withoutGroups(written);
  const { minor: amountMinor, beyond } = cutToHundredths(isWhole ? plain : '', mark as ',' | '.', currency);
  if (amountMinor === undefined)
    return `its amount "${/^[\d., ]*/.exec(behindMark)![0].trim()}" cannot be read`;
  const type = TYPE.exec(rest);
  const [references = '', ...bank] = rest.slice(type?.[0].length ?? 0).split('//');
  return {
    ...days,
    mark: { S: 'D', H: 'C' }[letters] ?? letters,
    amountMinor,
    beyond,
    code: type
      ?.slice(1)
      .find((one) => one !== undefined && one !== '.')
      ?.replace(/\s/, ''),
    owner: references.trim(),
    bank: bank.length > 0 ? bank.join('//') : undefined,
  };
}

/** How the digits of both days may be parted. */
const PARTS: Readonly<Record<number, readonly (readonly [number, number])[]>> = {
  6: [[6, 0]],
  8: [[8, 0]],
  10: [[6, 4]],
  12: [
    [6, 6],
    [8, 4],
  ],
  16: [[8, 8]],
};

/** Days in digits: YYMMDD or YYYYMMDD, and behind the first MMDD or a whole day of the booking. Zeros are no day. */
function daysOf(
  digits: string,
  apart: string | undefined,
): Pick<Entry, 'bookingDay' | 'valueDay' | 'notes'> | string {
  const ways = (PARTS[digits.length] ?? []).map(([first, second]) => [
    digits.slice(0, first),
    second > 0 ? digits.slice(first) : (apart ?? ''),
  ]) as [string, string][];
  const [value, written] = ways.find(([one]) => shortDay(one) !== undefined) ?? ways[0] ?? [];
  if (value === undefined || written === undefined) return `its day "${digits}" cannot be read`;
  const booking = /^0*$/.test(written) ? undefined : written;
  const notes: string[] = [];
  const valueDay = shortDay(value);
  const near = valueDay ?? lastOfMonth(value);
  if (near === undefined) return `its day "${value}" cannot be read`;
  const year = near.slice(2, 4);
  const read = (text: string) => (text.length === 4 ? nearestDay(text, near) : shortDay(text));
  const bookingDay =
    booking === undefined
      ? near
      : (read(booking) ?? lastOfMonth(booking.length === 4 ? `${year}${booking}` : booking));
  if (bookingDay === undefined) return `the calendar has no booking day "${booking}"`;
  if (valueDay === undefined)
    notes.push(`The calendar has no value day "${value}" (:61:), so the line has none.`);
  if (booking !== undefined && read(booking) === undefined)
    notes.push(`The calendar has no booking day "${booking}" (:61:): the last of the month is taken.`);
  return { bookingDay, valueDay, notes };
}

/** YYMMDD or YYYYMMDD. */
export function shortDay(text: string): string | undefined {
  const [, written, month, day] = /^(\d\d|\d{4})(\d\d)(\d\d)$/.exec(text) ?? [];
  if (written === undefined) return undefined;
  const year =
    written.length === 4 ? Number(written) : Number(written) + (Number(written) < 80 ? 2000 : 1900);
  return dayOf(year, Number(month), Number(day));
}

/** The last day of the month that a day such as 30 February stands in: banks count interest in months of 30 days. */
function lastOfMonth(text: string): string | undefined {
  const day = Number(text.slice(-2));
  if (day < 29 || day > 31) return undefined;
  const before = [28, 29, 30].toReversed().map((last) => shortDay(`${text.slice(0, -2)}${last}`));
  return before.find((one) => one !== undefined);
}

/** MMDD in the year that brings it nearest to the value day: 31 December may be booked on 2 January. */
function nearestDay(text: string, valueDay: string): string | undefined {
  const [month, day] = [Number(text.slice(0, 2)), Number(text.slice(2))];
  const [year, valueMonth] = [Number(valueDay.slice(0, 4)), Number(valueDay.slice(5, 7))];
  const shift = month - valueMonth > 6 ? -1 : valueMonth - month > 6 ? 1 : 0;
  return dayOf(year + shift, month, day);
}
