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
/** What a spreadsheet would run as a formula, though it first drops what cannot be seen. Amounts and ids never begin so. */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;
/** The same behind a semicolon or a tab, where a spreadsheet may begin a new cell, quotes or not. */
const FORMULA_INSIDE = /[;\t](?=[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/gu;
function cell(value: string | null): string | null {
  if (value === null) return null;
  const text = value.replace(FORMULA_INSIDE, "$&'");
  return FORMULA.test(text) ? `'${text}` : text;
}

/** A row: every value is text, amounts with two decimals, or null. */
type TextRow<Name extends string> = Readonly<Record<Name, string | null>>;

/** How a format is written: what comes first, and rows as text. */
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
    amounts.includes(name) ? amount(row[name]) : cell(row[name]);
  return {
    head: (separator === undefined ? '' : BYTE_ORDER_MARK) + stringify([[...columns]], csv),
    line: (rows) =>
      stringify(
        rows.map((row) => columns.map((name) => value(row, name))),
        csv,
      ),
  };
}
