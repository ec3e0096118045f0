// Currencies as CSV files name them: in cells, behind the names of columns, and above the table.
import type { CsvRow } from './csv-rows.ts';
import { currencyCode } from './values.ts';

/** Words and signs that stand for one currency. */
const WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  `EUR € euro euros euroa 欧元|GBP £|PLN zł|CZK kč|HUF ft|TRY tl ₺|BRL r$|INR ₹|JPY 円|CNY 元 人民币 人民币元|USD 美元|HKD 港币|RUB руб руб. rur`
    .split('|')
    .flatMap((row) => {
      const [code = '', ...words] = row.split(' ');
      return words.map((word) => [word, code]);
    }),
);
const UNIT = '[A-Z]{3}|R\\$|[€£$₺₹]|[Ee][Uu][Rr][Oo][AaSs]?|[Zz]ł|[Kk]č|Ft|TL|円|元|人民币元?|руб\\.?';

/** The code of a currency that a cell names; undefined for any other text. */
export const csvCurrency = (text: string | undefined): string | undefined =>
  currencyCode(text) ?? (text === undefined ? undefined : WORDS[text.trim().toLowerCase()]);

/** A currency in a name: in brackets, behind "in", or at one end. */
const IN_NAME = new RegExp(
  `\\s*[([（](?:in |en |w |v )?(${UNIT})\\s*[)\\]）]|\\s+(?:in|en|im) (${UNIT})\\s*$|\\s(${UNIT})\\s*$|^([A-Z]{3})\\s`,
);

/** The currency that a name gives, as in `Betrag (EUR)`, `Umsatz in EUR`, `Débit euros`, `残高(円)` and `Saldo CHF`. */
export function currencyInName(name: string): string | undefined {
  const unit = IN_NAME.exec(name)
    ?.slice(1)
    .find((one) => one !== undefined);
  return csvCurrency(unit);
}

/** The name without its currency. */
export const withoutCurrency = (name: string): string =>
  currencyInName(name) !== undefined || /[([][€£$][)\]]/.test(name) ? name.replace(IN_NAME, ' ') : name;

/** Currencies that are told from other words in capital letters. */
const USUAL =
  'EUR|USD|GBP|CHF|PLN|CZK|HUF|SEK|NOK|DKK|ISK|RON|BGN|JPY|CNY|HKD|SGD|AUD|NZD|CAD|BRL|MXN|INR|RUB|UAH|ZAR|ILS|TRY';
/** One that stands alone, beside a number, or between signs: `Saldo: CHF 12.50`, `0123 - EUR - Girokonto`, `:;euros`. */
const ABOVE = new RegExp(`(?:^|[\\d:;,(\\-–/])\\s*(${USUAL})(?=\\s*(?:$|[\\d:;,)\\-–+/]))`, 'g');

/** The only currency that is named above a table. */
export function currencyAbove(preamble: readonly CsvRow[]): string | undefined {
  const found = new Set(
    preamble.flatMap(({ cells }) =>
      cells.flatMap((cell) => csvCurrency(cell) ?? [...cell.matchAll(ABOVE)].map(([, code]) => code!)),
    ),
  );
  return found.size === 1 ? [...found][0] : undefined;
}
