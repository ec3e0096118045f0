// Tells from what stands in a table how it is to be read, and what it does not tell: that is asked, never guessed.
import { areEnough, currencyInName } from './csv-headers.ts';
import type {
  CsvChoice,
  CsvColumns,
  CsvRole,
  DateOrder,
  DecimalWord,
  PartialLayout,
  SignWord,
} from './csv-layout.ts';
import { inOrderOf, mergedLayout } from './csv-layout.ts';
import type { CsvRow } from './csv-rows.ts';
import { type CsvTable, isAmount, isDay } from './csv-table.ts';
import { csvAmount, dayOrdersOf, decimalsOf, markOf } from './csv-values.ts';
import { isStatusWord } from './csv-words.ts';
import { present } from './values.ts';

/** What the bookkeeper has to say before a file can be read. */
export interface CsvQuestion {
  key: CsvChoice | 'columns' | 'currency';
  text: string;
}

/** Columns with amounts. */
const AMOUNTS: readonly CsvRole[] = ['amount', 'debit', 'credit', 'balance', 'charges'];

/**
 * The layout of a table: what was `chosen`, else what the profile or the file itself says. A member that is missing is asked for in
 * `questions`.
 */
export function detectLayout(
  table: CsvTable,
  chosen: PartialLayout,
): { layout: PartialLayout; questions: CsvQuestion[] } {
  const { delimiter, quote, names, profile, isNamed } = table;
  const under: PartialLayout = { columns: table.columns, ...profile?.layout };
  const layout = mergedLayout({ ...under, delimiter, quote, columns: { ...table.columns } }, chosen);
  const { columns } = layout;
  if (!profile) {
    const text = table.columns.text ?? [];
    const words = [...text, ...otherWords(table, { ...columns, text })];
    columns.text = chosen.columns.text ? inOrderOf(words, chosen.columns.text) : words;
  }
  const questions: CsvQuestion[] = [];
  const missing = [...new Set(Object.values(columns).flat())].filter((name) => !names.includes(name));
  if (missing.length > 0)
    questions.push({
      key: 'columns',
      text: `The file has no column "${missing[0]}". It has: ${names.join(', ')}.`,
    });
  const isChosen = areEnough(chosen.columns);
  if (!areEnough(columns) || (!isNamed && !isChosen))
    questions.push({
      key: 'columns',
      text: `Say which column holds what: the names are not known (${names.join(', ')}).`,
    });
  const cells = (...roles: readonly CsvRole[]) => cellsOf(table, columns, roles);
  if (!profile && columns.status && !chosen.columns.status && !cells('status').some(isStatusWord))
    delete columns.status;
  const decimal = layout.decimal ?? decimalOf(cells(...AMOUNTS), questions);
  const found = present({
    dates: layout.dates ?? datesOf(cells('day', 'value'), questions),
    decimal,
    sign: layout.sign ?? signOf(columns, cells, decimal, questions),
    currency: layout.currency ?? currencyInName((columns.amount ?? columns.credit)?.[0] ?? ''),
  });
  const hasCurrency = found.currency !== undefined || columns.currency !== undefined;
  const inCells = () =>
    cells('amount', 'debit', 'credit').some((cell) => readEither(cell)?.currency !== undefined);
  if (!hasCurrency && table.rows.length > 0 && !inCells())
    questions.push({ key: 'currency', text: 'Say the currency: the file names none.' });
  return { layout: { ...layout, ...found }, questions };
}

/** Columns that nothing is known of and that hold more than days and amounts: a reference may stand in any of them. */
function otherWords({ names, rows }: CsvTable, columns: CsvColumns): string[] {
  const taken = Object.values(columns).flat();
  return names.filter((name, place) => {
    const isWord = ({ cells }: CsvRow) => cells[place] && !isDay(cells[place]) && !isAmount(cells[place]);
    return !taken.includes(name) && rows.some(isWord);
  });
}

const readEither = (cell: string) => csvAmount(cell, 'comma') ?? csvAmount(cell, 'point');

function cellsOf({ names, rows }: CsvTable, columns: CsvColumns, roles: readonly CsvRole[]): string[] {
  const places = roles.flatMap((role) => (columns[role] ?? []).map((name) => names.indexOf(name)));
  return rows.flatMap(({ cells }) => places.map((place) => cells[place] ?? '')).filter((cell) => cell !== '');
}

function datesOf(days: readonly string[], questions: CsvQuestion[]): DateOrder | undefined {
  let left: DateOrder[] = ['dmy', 'mdy', 'ymd'];
  let example: string | undefined;
  for (const day of days) {
    const possible = dayOrdersOf(day);
    if (possible.length === 0) continue;
    const kept = left.filter((order) => possible.includes(order));
    if (kept.length < left.length || example === undefined) example = day;
    left = kept;
  }
  if (left.length === 1 || example === undefined || (left.length === 3 && /[A-Za-z]{3}/.test(example)))
    return left[0];
  const text =
    left.length === 0
      ? 'Say the order of day and month: the days of this file stand in different ones.'
      : `Say the order of day, month and year: ${example} can be read in ${left.length === 2 ? 'two' : 'three'} ways.`;
  questions.push({ key: 'dates', text });
  return undefined;
}

function decimalOf(amounts: readonly string[], questions: CsvQuestion[]): DecimalWord | undefined {
  const told = new Set<DecimalWord>();
  let unclear: string | undefined;
  for (const amount of amounts) {
    const { possible, asks } = decimalsOf(amount);
    if (possible.length === 1) told.add(possible[0]!);
    if (asks) unclear ??= amount;
  }
  if (told.size === 1) return [...told][0];
  if (told.size === 2)
    questions.push({ key: 'decimal', text: 'Say the decimal mark: this file has comma and point.' });
  else if (unclear !== undefined)
    questions.push({ key: 'decimal', text: `Say the decimal mark: "${unclear}" can be read in two ways.` });
  return undefined;
}

function signOf(
  columns: CsvColumns,
  cells: (...roles: readonly CsvRole[]) => string[],
  decimal: DecimalWord | undefined,
  questions: CsvQuestion[],
): SignWord | undefined {
  const amounts = cells('amount').flatMap(
    (cell) => (decimal ? csvAmount(cell, decimal) : readEither(cell)) ?? [],
  );
  const isSplit = Boolean(columns.debit && columns.credit);
  if (!columns.amount) return isSplit ? 'columns' : undefined;
  const [negative, bracketed] = [
    amounts.some((one) => one.isNegative),
    amounts.some((one) => one.isBracketed),
  ];
  const marks = cells('mark');
  const areMarked =
    (marks.length > 0 && marks.every((mark) => markOf(mark) !== undefined)) ||
    (amounts.length > 0 && amounts.every(({ mark }) => mark !== undefined));
  const found = [
    negative && 'signed',
    bracketed && 'brackets',
    !negative && !bracketed && areMarked && 'mark',
  ].filter((one) => one !== false);
  if (found.length === 1) return found[0] as SignWord;
  if (found.length === 0 && isSplit) return 'columns';
  if (found.length === 0 && amounts.length === 0) return 'signed';
  const text =
    found.length === 0
      ? 'Say how money out is marked: no amount of this file has a minus, brackets or a mark.'
      : 'Say how money out is marked: this file has amounts with a minus and amounts in brackets.';
  questions.push({ key: 'sign', text });
  return undefined;
}
