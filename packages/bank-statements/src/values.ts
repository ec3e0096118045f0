// Amounts, days, accounts and references as banks write them, read by their text.
import { CODES } from './currencies.ts';

/** The largest amount that is read, 999,999,999,999.99, in hundredths. Sums of it stay exact. */
const MAXIMUM_MINOR = 99_999_999_999_999;

const CURRENCIES = new Set(CODES.trim().split(/\s+/));

/**
 * Hundredths of an unsigned decimal number: `1234.5` gives 123450, `.5` gives 50. `decimalMark` is `.` or `,`. Zeros behind the second
 * decimal are dropped. Returns undefined for any other text: more decimals, groups, signs, and more than `MAXIMUM_MINOR`.
 */
export function hundredths(text: string, decimalMark: '.' | ','): number | undefined {
  if (text === '') return undefined;
  const [whole = '', fraction = '', ...more] = text.split(decimalMark);
  if (more.length > 0 || !/^\d{0,18}$/.test(whole) || !/^\d{0,2}0{0,16}$/.test(fraction)) return undefined;
  if (whole === '' && fraction === '') return undefined;
  const minor = Number(whole + fraction.slice(0, 2).padEnd(2, '0'));
  return minor <= MAXIMUM_MINOR ? minor : undefined;
}

/** Digits in groups of three with a decimal mark behind them. */
const GROUPED = /^\d{1,3}([. '’,])\d{3}(?:\1\d{3})*(?!\1)[.,]\d*$/;

/** Removes the marks between groups of digits: `1.234,56` gives `1234,56`. Returns other texts unchanged. */
export function withoutGroups(text: string): string {
  const group = GROUPED.exec(text)?.[1];
  return group === undefined ? text : text.replaceAll(group, '');
}

/** The currencies of three decimals in ISO 4217. */
const OF_THREE_DECIMALS = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);

export const hasThousandths = (currency: string | undefined): boolean =>
  currency !== undefined && OF_THREE_DECIMALS.has(currency);

/**
 * Hundredths as `hundredths` reads them; a third decimal is left out if the currency has one. `beyond` is the text with all of its
 * decimals if what is left out is not 0.
 */
export function cutToHundredths(
  text: string,
  decimalMark: '.' | ',',
  currency: string | undefined,
): { minor: number | undefined; beyond: string | undefined } {
  const [, kept, third] = /^(\d*[.,]\d\d)(\d)$/.exec(text) ?? [];
  if (kept === undefined || !hasThousandths(currency))
    return { minor: hundredths(text, decimalMark), beyond: undefined };
  return { minor: hundredths(kept, decimalMark), beyond: third === '0' ? undefined : `${text} ${currency}` };
}

/** The currency's code in upper case, or undefined if ISO 4217 has none of this name. */
export function currencyCode(text: string | undefined): string | undefined {
  if (text !== undefined && CURRENCIES.has(text)) return text;
  const code = text?.trim().toUpperCase();
  return code !== undefined && CURRENCIES.has(code) ? code : undefined;
}

/** YYYY-MM-DD of a year, month and day, or undefined if the calendar has no such day. */
export function dayOf(year: number, month: number, day: number): string | undefined {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  if (days === undefined || day < 1 || day > days || year < 1900 || year > 2199) return undefined;
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** The day of an ISO 8601 date or date and time, as written there: no time zone moves it. */
export function isoDay(text: string | undefined): string | undefined {
  const [, year, month, day] = /^\s*(\d{4})-?(\d\d)-?(\d\d)(?!\d{3}$)/.exec(text ?? '') ?? [];
  return year === undefined ? undefined : dayOf(Number(year), Number(month), Number(day));
}

/** An IBAN without spaces in upper case, or undefined if the text has not the form of one. Check digits are not looked at. */
export function ibanOf(text: string | undefined): string | undefined {
  const joined = text?.replace(/\s+/g, '').toUpperCase();
  return joined !== undefined && /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(joined) ? joined : undefined;
}

/** Words that banks write where there is no reference. */
const PLACEHOLDER = /^(?:NOT ?PROVIDED|NON ?REF|NOREF|EREF|N\/?A|NONE|0+|-+|\.)$/i;

/** A reference without white space around it, or undefined for an empty one and a placeholder. Leading zeros are kept. */
export function referenceOf(text: string | undefined): string | undefined {
  const reference = text?.trim();
  return reference === undefined || reference === '' || PLACEHOLDER.test(reference) ? undefined : reference;
}

/** White space that is more than a space between words. */
const UNEVEN = /^\s|\s$|\s\s|[^\S ]/;

/** `undefined` for an empty text, else the text with white space folded to single spaces. */
export function folded(text: string | undefined): string | undefined {
  const one = text === undefined || !UNEVEN.test(text) ? text : text.replace(/\s+/g, ' ').trim();
  return one === '' ? undefined : one;
}

/** An object without the members that are undefined. */
export function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) found[name] = value;
  return found as { [K in keyof T]?: Exclude<T[K], undefined> };
}
