// Days and amounts as CSV files write them, and what each of them tells about the order of days and the decimal mark.
import { csvCurrency } from './csv-currencies.ts';
import type { DateOrder, DecimalWord } from './csv-layout.ts';
import { alternatives } from './csv-words.ts';
import { cutToHundredths, dayOf } from './values.ts';

const NUMERIC = /^(\d{1,4})([./\- ])(\d{1,2})\2(\d{1,4})\.?(?:[T ,].*|-\d\d:\d\d.*)?$/;
const COMPACT = /^\d{8}$/;
/** How names of months begin in the languages of banks. */
const MONTHS = [
  /^(?:jan|ene|gen|sty|led|oca|tam)/,
  /^(?:feb|fev|lut|uno|sub|hel)/,
  /^(?:mar(?!r)|mrz|maa|mrt|bre)/,
  /^(?:apr|avr|abr|kwi|dub|nis|huh)/,
  /^(?:may|mai|maj|mei|mag|kve|tou)/,
  /^(?:jun|juin|giu|cze|cer(?!v?enc)|haz|kes)/,
  /^(?:jul|juil|lug|lip|cervenc|tem|hei)/,
  /^(?:aug|aou|ago|sie|srp|elo)/,
  /^(?:sep|set|wrz|zar|eyl|syy)/,
  /^(?:oct|okt|ott|paz|out|eki|rij|lok)/,
  /^(?:nov|lis|kas|marr)/,
  /^(?:dec|dez|dic|gru|pro|ara|jou)/,
];
/** Years of the era Reiwa begin in 2019: `R8.11.20`, `令和8年11月20日`. */
const EAST_ASIAN = /^(?:(\d{4})年|(?:R|令和)(\d{1,2})[.年/])(\d{1,2})[.月/](\d{1,2})日?/;
const NAMED_MONTH = /^(\d{1,2})[ .\-/]*(\p{L}{3,10})\.?,?[ \-/]*(\d{4}|\d{2})(?:[ ,].*)?$/u;
const NAMED_MONTH_FIRST = /^(\p{L}{3,10})\.? (\d{1,2}),? (\d{4})(?:[ ,].*)?$/u;
const ORDERS: readonly DateOrder[] = ['dmy', 'mdy', 'ymd'];

const yearOf = (digits: string) => (digits.length === 2 ? 2000 + Number(digits) : Number(digits));

/** YYYY-MM-DD, or undefined for what is no day in this order. A time behind it is left out. */
export function csvDay(written: string, order: DateOrder): string | undefined {
  const text = written.trim();
  const named = NAMED_MONTH.exec(text);
  if (named) return namedDay(named[3]!, named[2]!, named[1]!);
  const first = NAMED_MONTH_FIRST.exec(text);
  if (first) return namedDay(first[3]!, first[1]!, first[2]!);
  const [, year, era, month, day] = EAST_ASIAN.exec(text) ?? [];
  if (month !== undefined)
    return order === 'ymd'
      ? dayOf(Number(year ?? 2018 + Number(era)), Number(month), Number(day))
      : undefined;
  const [, a, , b, c] = NUMERIC.exec(text) ?? compactParts(text, order);
  if (a === undefined) return undefined;
  const parts = order === 'dmy' ? [c!, b!, a] : order === 'mdy' ? [c!, a, b!] : [a, b!, c!];
  if (!/^(?:\d{4}|\d{2})$/.test(parts[0]!) || parts[1]!.length > 2 || parts[2]!.length > 2) return undefined;
  return dayOf(yearOf(parts[0]!), Number(parts[1]), Number(parts[2]));
}

function namedDay(year: string, month: string, day: string): string | undefined {
  const plain = month.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ź', 'z').toLowerCase();
  const place = MONTHS.findIndex((begin) => begin.test(plain));
  return dayOf(yearOf(year), place + 1, Number(day));
}

/** `20261120` as the parts of a day with separators. */
function compactParts(text: string, order: DateOrder): (string | undefined)[] {
  if (!COMPACT.test(text)) return [];
  return order === 'ymd'
    ? [text, text.slice(0, 4), '', text.slice(4, 6), text.slice(6)]
    : [text, text.slice(0, 2), '', text.slice(2, 4), text.slice(4)];
}

/** Days repeat: what was found of the last ones. */
const KNOWN_DAYS = new Map<string, readonly DateOrder[]>();
const KNOWN_DAYS_MAXIMUM = 2000;

/** The orders in which a text is a day. With points and the year behind, the day stands first: no country writes the month there. */
export function dayOrdersOf(text: string): readonly DateOrder[] {
  const known = KNOWN_DAYS.get(text);
  if (known) return known;
  const all = ORDERS.filter((order) => csvDay(text, order) !== undefined);
  const isPointed = text.includes('.') && all.includes('dmy') && !/\p{L}{3}|^R|^令/u.test(text);
  const possible = isPointed ? (['dmy'] as const) : all;
  if (KNOWN_DAYS.size >= KNOWN_DAYS_MAXIMUM) KNOWN_DAYS.clear();
  KNOWN_DAYS.set(text, possible);
  return possible;
}

/** An amount: hundredths without a sign, and the signs that stand with it. */
export interface CsvAmount {
  minor: number;
  isNegative: boolean;
  isBracketed: boolean;
  /** `S`, `CR` and their like behind the number. */
  mark?: string;
  currency?: string;
  /** The whole amount, if it has thousandths: `1.234 KWD`. */
  beyond?: string;
}

/** Signs of several currencies. */
const UNCERTAIN = new Set(['$', '¥', '￥', 'kr', 'kr.', 'Kr', 'lei']);
const SYMBOL = '€|£|R\\$|\\$|¥|￥|zł|Kč|Ft|TL|₺|₹|円|kr\\.?|Kr|lei|[A-Z]{3}(?![A-Za-z])';
const AMOUNT = new RegExp(
  `^(\\()?\\s*([+-])?\\s*(${SYMBOL})?\\s*([+-])?\\s*(\\d[\\d.,'’ ]*?)\\s*([+-])?\\s*(${SYMBOL})?\\s*(S|H|D|C|DR|CR)?\\s*(\\))?$`,
);
/** White space of every width, and the signs that are drawn as a minus. */
const SPACE = /[\s\u00a0\u202f\u2009]/g;
const MINUS = /[\u2212\u2013\u2012]/g;

/** Longer texts are no amounts. The expression above takes the fifth power of the length of what it refuses. */
const AMOUNT_MAXIMUM = 40;

/** An amount that is written in digits alone, with a minus and two decimals at most: most are, and need no expression. */
export function plainAmount(written: string): (CsvAmount & { decimal?: DecimalWord }) | undefined {
  const isNegative = written.charCodeAt(0) === 0x2d;
  const start = isNegative ? 1 : 0;
  const end = written.length;
  const mark = end - start > 3 ? written.charCodeAt(end - 3) : 0;
  const decimal = mark === 0x2c ? 'comma' : mark === 0x2e ? 'point' : undefined;
  const whole = decimal === undefined ? end : end - 3;
  if (whole === start || whole - start > 12) return undefined;
  let minor = 0;
  for (let at = start; at < end; at++) {
    if (at === whole) continue;
    const digit = written.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    minor = minor * 10 + digit;
  }
  return decimal === undefined
    ? { minor: minor * 100, isNegative, isBracketed: false }
    : { minor, isNegative, isBracketed: false, decimal };
}

/**
 * Digits without their groups, and hundredths, or undefined for what is no amount with this decimal mark. Whole numbers need none.
 * `among`: the currency, where none stands beside the number.
 */
export function csvAmount(
  written: string,
  decimal: DecimalWord = 'comma',
  among?: string,
): CsvAmount | undefined {
  const plain = plainAmount(written);
  if (plain && (plain.decimal ?? decimal) === decimal) return plain;
  const text = written.replace(SPACE, ' ').replace(/ {2,}/g, ' ').replace(MINUS, '-').trim();
  const found = text.length > AMOUNT_MAXIMUM ? null : AMOUNT.exec(text);
  if (!found) return undefined;
  const [, open, before, symbol, inner, number, after, behind, mark, close] = found;
  const signs = [before, inner, after].filter((sign) => sign !== undefined);
  if (signs.length > 1 || (open === undefined) !== (close === undefined)) return undefined;
  const unit = symbol ?? behind;
  const currency = csvCurrency(unit);
  if (unit !== undefined && !UNCERTAIN.has(unit) && currency === undefined) return undefined;
  const { minor, beyond } = grouped(number!, decimal === 'comma' ? ',' : '.', currency ?? among);
  if (minor === undefined) return undefined;
  return {
    minor,
    isNegative: signs[0] === '-',
    isBracketed: open !== undefined,
    ...(mark !== undefined && { mark }),
    ...(currency !== undefined && { currency }),
    ...(beyond !== undefined && { beyond }),
  };
}

/** An amount of any currency with either decimal mark: for what may be one. */
export const csvAmountOfAny = (cell: string): CsvAmount | undefined =>
  csvAmount(cell, 'comma', OF_THOUSANDTHS) ?? csvAmount(cell, 'point', OF_THOUSANDTHS);
const OF_THOUSANDTHS = 'KWD';

/** Groups of three digits, and as India writes them: `1,20,000`. */
const GROUPS = /^[1-9](?:\d{0,2}(?:[.,'’ ]\d{3})+|\d?(?:,\d{2})+,\d{3})$/;

/** Hundredths of digits that may have groups, all with the same mark. No group is a zero: `0.750` is less than one. */
function grouped(
  text: string,
  decimalMark: '.' | ',',
  currency: string | undefined,
): Partial<ReturnType<typeof cutToHundredths>> {
  const [whole = '', ...rest] = text.split(decimalMark);
  const group = /[.,'’ ]/.exec(whole)?.[0];
  if (rest.length > 1 || (rest[0] !== undefined && !/^\d+$/.test(rest[0]))) return {};
  if (group !== undefined && !GROUPS.test(whole)) return {};
  const digits = group === undefined ? whole : whole.replaceAll(group, '');
  return cutToHundredths([digits, ...rest].join(decimalMark), decimalMark, currency);
}

/**
 * The decimal marks with which a text is an amount in a currency. Both, if both give the same amount; `asks` if they give different ones,
 * as of `1.234` where a currency has three decimals.
 */
export function decimalsOf(
  text: string,
  currency?: string,
): { possible: readonly DecimalWord[]; asks: boolean } {
  const plain = plainAmount(text)?.decimal;
  if (plain !== undefined) return { possible: [plain], asks: false };
  const comma = csvAmount(text, 'comma', currency);
  const point = csvAmount(text, 'point', currency);
  if (comma && point) return { possible: ['comma', 'point'], asks: comma.minor !== point.minor };
  return { possible: comma ? ['comma'] : point ? ['point'] : [], asks: false };
}

/** The mark between thousands in the first of `texts` that is an amount with one, or undefined. */
export function thousandsMark(
  texts: readonly string[],
  decimal: DecimalWord | undefined,
): string | undefined {
  if (decimal === undefined) return undefined;
  const mark = new RegExp(`\\d(${decimal === 'comma' ? "[.'’ ]" : "[,'’ ]"})\\d{3}`);
  const amounts = texts.filter((text) => csvAmount(text, decimal));
  return amounts.map((text) => mark.exec(text.replace(SPACE, ' '))?.[1]).find(Boolean);
}

const whole = (words: string) => new RegExp(`^(?:${alternatives(words)})$`, 'i');
const DEBIT =
  whole(`s|soll|d|debito|addebito|cargo|uscita|sortie|débit|obciążenie|výdaj|terhelés|borç|支出|出金|借|dr|db|dbit|debit|debet|deb|
  af|w|wn|out|withdrawal|ausgang|belastung|lastschrift|-`);
const CREDIT =
  whole(`h|haben|c|kredit|credito|accredito|abono|entrata|entrée|crédit|uznanie|příjem|jóváírás|alacak|收入|入金|贷|cr|crdt|credit|
  cred|bij|k|m|ma|in|deposit|eingang|gutschrift|\\+`);

/** What a mark beside an amount says; undefined for what is none. */
export function markOf(text: string | undefined): 'credit' | 'debit' | undefined {
  const word = text?.trim() ?? '';
  return DEBIT.test(word) ? 'debit' : CREDIT.test(word) ? 'credit' : undefined;
}
