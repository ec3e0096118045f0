// Writes rows of text for spreadsheets (CSV, RFC 4180) and programs (NDJSON).
import { stringify } from 'csv-stringify/sync';
import { OperationalError } from '../lib/errors.ts';
import { momentWords, wordBeginnings } from '../lib/moments.ts';

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
/** A whole number that a spreadsheet shows in full. */
const SAME_NUMBER = /^(?:0|[1-9]\d{0,10})$/;
/** Columns of days and moments. What they hold is a day to a spreadsheet, too, or text as it stands. */
const MOMENT_COLUMN = /(?:^|_)(?:at|on|day)$|^pay_by$/;
const FORMULA_LENGTH_MAXIMUM = 255;

/** Units, currencies, exponents and ordinals that stand beside digits. */
const UNITS =
  'd e h t z st nd rd th min eur usd gbp chf sfr fr kr kč zł ft lei rs r º ª uhr 年 月 日 時 时 分 秒'.split(
    ' ',
  );
/** What spreadsheets take for true or false, in the languages that have words of their own for it. */
const TRUTHS =
  `true wahr vrai verdadero verdadeiro vero waar prawda sant sann sand tosi pravda igaz doğru истина adevărat αληθεσ
false falsch faux falso onwaar fałsz falskt falsk usann epätosi nepravda hamis yanliş yanlış ложь fals ψευδεσ`.split(
    /\s/,
  );
const ERROR = /^#[^\s\d]+$/u;

let valueWords: ReadonlySet<string> | undefined;

/** Whether a spreadsheet may make a number, a day, a time, a truth value or an error of a text: `000123`, `3-4`, `1E5`, `3. Mai`. */
function isChanged(text: string): boolean {
  const plain = text.normalize('NFKC').trim();
  if (SAME_NUMBER.test(text) || plain.length > FORMULA_LENGTH_MAXIMUM || /[\r\n\t]/.test(text)) return false;
  if (TRUTHS.includes(plain.toLowerCase()) || ERROR.test(plain)) return true;
  if (!/\p{N}/u.test(plain) || /^[\p{Cf}]*[=@]/u.test(plain)) return false;
  valueWords ??= new Set([...UNITS, ...momentWords()]);
  return wordBeginnings(plain).every((word) => valueWords!.has(word));
}

/** A cell's text. `forSpreadsheet`: a formula of that text where the program would make another value of it. */
function cell(value: string | null, forSpreadsheet: boolean): string | null {
  if (value === null) return null;
  const text = value.replace(FORMULA_INSIDE, "$&'");
  if (forSpreadsheet && text === value && isChanged(value)) return `="${value.replaceAll('"', '""')}"`;
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
    amounts.includes(name)
      ? amount(row[name])
      : cell(row[name], separator !== undefined && !MOMENT_COLUMN.test(name));
  return {
    head: (separator === undefined ? '' : BYTE_ORDER_MARK) + stringify([[...columns]], csv),
    line: (rows) =>
      stringify(
        rows.map((row) => columns.map((name) => value(row, name))),
        csv,
      ),
  };
}
