// Money as integers: decimal numbers in, minor units held, decimal text out; nothing passes through float arithmetic.
// Of bank lines in currencies of three decimals an amount has a tenth of a minor unit (decision 3): only `sumMinor` of payments adds those.
import { CODES_BY_DECIMALS } from './currencies.ts';
import { asciiDigits } from './text.ts';

/** The largest amount, 999999999999.99, in minor units. */
export const MAXIMUM_MINOR = 99_999_999_999_999;

const DECIMALS_OF = new Map(
  Object.entries(CODES_BY_DECIMALS).flatMap(([decimals, codes]) =>
    codes
      .trim()
      .split(/\s+/)
      .map((code) => [code, Number(decimals)] as const),
  ),
);

/** Whether `code` (upper case) is an ISO 4217 currency in use, and no fund, metal or test code. */
export function isCurrency(code: string): boolean {
  return DECIMALS_OF.has(code);
}

/** Whether the currency has a smaller unit at all: false for JPY, KRW and the like. */
export function hasMinorUnit(currency: string): boolean {
  return DECIMALS_OF.get(currency) !== 0;
}

/** What is wrong with an amount whose number a double rounds: it has more digits than any amount may have, whole or decimal. */
export const INEXACT_AMOUNT =
  'Must be greater than zero, at most 999999999999.99, with at most 2 decimal places.';

/**
 * An amount in minor units, hundredths for every currency since the interface writes two decimals for every currency.
 *
 * `amount` must be a number that its JSON source wrote exactly (see `parseJson`), so that its shortest decimal form is
 * what was written. Returns the sentence that says what is wrong instead, when something is.
 */
export function parseAmount(amount: number, currency: string): { minor: number } | { fault: string } {
  if (!(amount > 0)) return { fault: 'Must be greater than zero.' };
  const parts = /^(\d+)(?:\.(\d+))?$/.exec(String(amount));
  if (parts && Number(parts[1]) > MAXIMUM_MINOR / 100) return { fault: 'Must be at most 999999999999.99.' };
  if (!parts || (parts[2]?.length ?? 0) > 2) {
    return {
      fault: amount > 1e12 ? 'Must be at most 999999999999.99.' : 'Must have at most 2 decimal places.',
    };
  }
  const fraction = (parts[2] ?? '').padEnd(2, '0');
  if (fraction !== '00' && !hasMinorUnit(currency))
    return { fault: `Must be a whole number: ${currency} has no smaller unit.` };
  return { minor: Number(parts[1] + fraction) };
}

/** A whole number in groups of three, with one separator between groups and another before decimals: `1.200,00`, `1'200.00`, `1 200`. */
const GROUPED = /^\d{1,3}([.,٬'’ ])\d{3}(?:\1\d{3})*(?!\1)(?:[.,٫]\d{1,2})?$/;

/** One point or comma before three digits: in a currency of three decimals it may stand before decimals. */
const THREE_DECIMALS = /^\d+[.,٫]\d{3}$/;

/**
 * Parses an amount as people and banks write it, into hundredths: `1000`, `49,90`, `1.200,00`, `٤٩٫٩٠`. A point or comma before exactly
 * three digits groups: `1.200` is 1200. Undefined if it is none, and if `currency` has three decimals and it can be read in two ways.
 */
export function parseTypedAmount(text: string, currency?: string): number | undefined {
  const typed = asciiDigits(text).trim();
  if (DECIMALS_OF.get(currency ?? '') === 3 && THREE_DECIMALS.test(typed)) return undefined;
  const group = GROUPED.exec(typed)?.[1];
  const number = (group === undefined ? typed : typed.replaceAll(group, '')).replace(/[,٫]/, '.');
  if (!/^\d{1,12}(?:\.\d{1,2})?$/.test(number)) return undefined;
  const amount = parseAmount(Number(number), 'EUR');
  return 'minor' in amount ? amount.minor : undefined;
}

/** `4990` → `"49.90"`, `233.9` → `"2.339"`. Takes minor units (hundredths), of bank lines with a tenth. */
export function formatAmount(minor: number): string {
  const tenths = Math.round(minor * 10);
  const third = tenths % 10;
  const digits = String((tenths - third) / 10).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}${third || ''}`;
}
