// Reads `:61:` of MT940, the line of a statement, with the liberties that banks take: blanks, missing parts, days of a 360-day year.
import { cutToHundredths, dayOf } from './values.ts';

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
const MARK = /^\s*(RC|RD|EC|ED|C|D|S|H)\s*[A-Za-z]?\s*(?=[\d.,])/;
const AMOUNT = /^(?:\d+[.,]?\d*|[.,]\d+)/;
/** N, S or F and three characters; some banks write fewer, and a blank. */
const TYPE = /^\s*(?!NONREF)(?:([A-Z][A-Z0-9]{3})|([NSF][A-Z0-9]{0,2})(?=\s|$))\s*/;

/** Reads the first row of `:61:`. Returns a sentence that shows the piece that cannot be read. */
export function readEntry(row: string, currency: string): Entry | string {
  const [digits = ''] = /^\d*/.exec(row) ?? [];
  const days = daysOf(digits, /^\s*(\d{4})(?=\s*[A-Z])/.exec(row.slice(digits.length))?.[1]);
  if (typeof days === 'string') return days;
  const afterDays = row.slice(digits.length).replace(/^\s+\d{4}(?=\s*[A-Z])/, '');
  const marked = MARK.exec(afterDays);
  if (!marked) return `its mark "${afterDays.trim().slice(0, 4)}" is none of C, D, RC, RD, EC and ED`;
  const behindMark = afterDays.slice(marked[0].length);
  const written = AMOUNT.exec(behindMark)?.[0] ?? '';
  const rest = behindMark.slice(written.length);
  const isWhole = !/^[.,\d]/.test(rest);
  const mark = written.includes(',') ? ',' : '.';
  const { minor: amountMinor, beyond } = cutToHundredths(isWhole ? written : '', mark, currency);
  if (amountMinor === undefined) return `its amount "${/^[\d.,]*/.exec(behindMark)![0]}" cannot be read`;
  const type = TYPE.exec(rest);
  const [references = '', ...bank] = rest.slice(type?.[0].length ?? 0).split('//');
  return {
    ...days,
    mark: { S: 'D', H: 'C' }[marked[1]!] ?? marked[1]!,
    amountMinor,
    beyond,
    code: type?.[1] ?? type?.[2],
    owner: references.trim(),
    bank: bank.length > 0 ? bank.join('//') : undefined,
  };
}

/** Days in digits: YYMMDD or YYYYMMDD, and behind the first MMDD or YYMMDD of the booking. */
function daysOf(
  digits: string,
  apart: string | undefined,
): Pick<Entry, 'bookingDay' | 'valueDay' | 'notes'> | string {
  const [value, booking] =
    digits.length === 8 ? [digits, apart] : [digits.slice(0, 6), digits.slice(6) || apart];
  if (![6, 8].includes(value.length) || ![0, 4, 6].includes(booking?.length ?? 0))
    return `its day "${digits}" cannot be read`;
  const notes: string[] = [];
  const valueDay = shortDay(value);
  const near = valueDay ?? lastOfMonth(value);
  if (near === undefined) return `its day "${value}" cannot be read`;
  const bookingDay =
    booking === undefined ? valueDay : booking.length === 6 ? shortDay(booking) : nearestDay(booking, near);
  if (bookingDay === undefined && booking !== undefined)
    return `the calendar has no booking day "${booking}"`;
  if (bookingDay === undefined) return `the calendar has no day "${value}"`;
  if (valueDay === undefined)
    notes.push(`The calendar has no value day "${value}" (:61:), so the line has none.`);
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
