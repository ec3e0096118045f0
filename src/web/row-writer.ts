// Writes rows of text for spreadsheets (CSV, RFC 4180) and programs (NDJSON).
import { stringify } from 'csv-stringify/sync';
import { OperationalError } from '../lib/errors.ts';

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What each format is called on the wire. */
export const EXPORT_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

/** For spreadsheets, by what separates their cells: CSV that begins with a byte order mark, so that they read it as UTF-8. */
const SEPARATORS = { comma: ',', semicolon: ';', tab: '\t' } as const;
export type Separator = keyof typeof SEPARATORS;
export const SEPARATOR_NAMES = Object.keys(SEPARATORS) as Separator[];

/** What separates the cells, as an address asks for it; undefined where it does not. Throws `validation_failed`. */
export function separatorOf(asked: string | undefined): Separator | undefined {
  const separator = SEPARATOR_NAMES.find((one) => one === asked);
  if (asked === separator) return separator;
  throw new OperationalError('validation_failed', `Separator must be one of ${SEPARATOR_NAMES.join(', ')}.`);
}

const BYTE_ORDER_MARK = '\ufeff';

/** RFC 4180. */
const CSV = {
  record_delimiter: 'windows',
  quoted_match: /[\r\n]/, // the library quotes its own record end alone, not half of one
} as const;
/** Text that a spreadsheet would run as a formula, once it has dropped invisible characters. Amounts and ids never begin so. */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;
/** The same behind a semicolon or a tab, where a spreadsheet may begin a new cell, quotes or not. */
const FORMULA_INSIDE = /[;\t](?=[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/gu;
/** A plain whole number of up to 15 digits, a day or a moment of ISO 8601: a spreadsheet shows them as they are. */
const SAME_VALUE = /^(?:0|[1-9]\d{0,14}|\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?)$/;
/** What a spreadsheet makes a number, a day, a time or a share of: `000123`, `3-4`, `1E5`, `1.042`, `+49 170 1234`. */
const ANOTHER_VALUE = /^[ \d.,:/()%€$£+-]*\d(?:[ \d.,:/()%€$£+-]*|e[+-]?\d+)$/iu;
/** The first letters of months in the languages whose spreadsheets know them. */
const MONTHS =
  `jan|feb|fév|fev|mar|mär|maa|mrt|apr|avr|abr|kwi|nis|may|mai|maj|mei|mag|jun|jui|giu|cze|haz|jul|lug|lip|tem|aug|aoû|ago|sie|
ağu|sep|set|wrz|eyl|oct|okt|ott|out|paź|eki|nov|lis|kas|dec|déc|dez|dic|gru|ara|sty|lut|oca|şub|gen|ene`.replaceAll(
    '\n',
    '',
  );
/** Days with a month's name, `MAR 3`, `3-Mar` and `Sept1`, and `true`. */
const WORD_VALUE = new RegExp(
  `^(?:(?:\\d{1,4}[ ./-]?)?(?:${MONTHS})\\p{L}{0,7}[ ./-]{0,2}(?:\\d{1,4}(?:[ ./,-]{1,2}\\d{1,4})?)?|true|false)$`,
  'iu',
);
const isChanged = (text: string) =>
  !SAME_VALUE.test(text) &&
  (ANOTHER_VALUE.test(text) || (WORD_VALUE.test(text) && /\d|^(?:true|false)$/i.test(text)));

/** A cell's text. `forSpreadsheet`: a formula of that text where the program would make another value of it. */
function cell(value: string | null, forSpreadsheet: boolean): string | null {
  if (value === null) return null;
  if (forSpreadsheet && isChanged(value)) return `="${value}"`;
  const text = value.replace(FORMULA_INSIDE, "$&'");
  return FORMULA.test(text) ? `'${text}` : text;
}

type TextRow<Name extends string> = Readonly<Record<Name, string | null>>;

interface RowWriter<Name extends string> {
  head: string;
  line(rows: readonly TextRow<Name>[]): string;
}

/** Writes rows of `columns`, in their order. `amounts` are those that a spreadsheet is to take for numbers. */
export function rowWriter<Name extends string>(
  format: ExportFormat,
  columns: readonly Name[],
  amounts: readonly Name[],
  separator: Separator | undefined,
): RowWriter<Name> {
  if (format === 'ndjson')
    return { head: '', line: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('') };
  const csv = { ...CSV, delimiter: SEPARATORS[separator ?? 'comma'] };
  // Spreadsheets take the semicolon in countries that write decimals with a comma: only so are amounts numbers to them.
  const amount = (text: string | null) =>
    separator === 'semicolon' ? (text?.replace('.', ',') ?? null) : text;
  const value = (row: TextRow<Name>, name: Name) =>
    amounts.includes(name) ? amount(row[name]) : cell(row[name], separator !== undefined);
  return {
    head: (separator === undefined ? '' : BYTE_ORDER_MARK) + stringify([[...columns]], csv),
    line: (rows) =>
      stringify(
        rows.map((row) => columns.map((name) => value(row, name))),
        csv,
      ),
  };
}
