// What stands in the columns of a CSV table: whether it can be what a name says, and which column is the running total of others.
import { csvCurrency } from './csv-currencies.ts';
import type { CsvRole } from './csv-layout.ts';
import type { CsvRow } from './csv-rows.ts';
import { csvAmount, csvAmountOfAny, dayOrdersOf, markOf } from './csv-values.ts';
import { isPendingWord } from './csv-words.ts';

/** Rows that are looked at. */
const SAMPLE_ROWS = 300;
/** The least share of cells that has to be of a kind. Footers, rows of balances and what cannot be read stand among the others. */
const SHARE = 0.5;

export const isDay = (cell: string) => dayOrdersOf(cell).length > 0;
const isWrittenDay = (cell: string) => isDay(cell) && /[./\- ]|[A-Za-z]{3}|年/.test(cell);
export const isAmount = (cell: string) =>
  !isDay(cell) && /\d[.,]\d|^[-+(]/.test(cell) && Boolean(csvAmountOfAny(cell));

/** The test that the values of a role's column must pass. Texts and names have none. */
const KINDS: Partial<Record<CsvRole, { is: (cell: string) => boolean; mayBeEmpty: boolean }>> = {
  day: { is: (cell) => isDay(cell) || isPendingWord(cell), mayBeEmpty: false },
  value: { is: (cell) => isDay(cell) || isPendingWord(cell), mayBeEmpty: true },
  currency: { is: (cell) => csvCurrency(cell) !== undefined, mayBeEmpty: false },
  mark: { is: (cell) => markOf(cell) !== undefined, mayBeEmpty: false },
};
const MONEY = { is: (cell: string) => !isWrittenDay(cell) && Boolean(csvAmountOfAny(cell)) };
for (const role of ['amount', 'debit', 'credit', 'balance', 'charges', 'part'] as const)
  KINDS[role] = { ...MONEY, mayBeEmpty: role !== 'amount' };

/** Whether the column at a place can have a role by what stands in it. Without rows every column can. */
export function contentFit(rows: readonly CsvRow[]): (role: CsvRole, place: number) => boolean {
  const filled = rows
    .slice(0, SAMPLE_ROWS)
    .filter(({ cells }) => cells.filter((cell) => cell !== '').length > 1);
  return (role, place) => {
    const kind = KINDS[role];
    if (!kind || filled.length === 0) return true;
    const cells = filled.map((row) => row.cells[place] ?? '').filter((cell) => cell !== '' && cell !== '-');
    if (cells.length === 0) return kind.mayBeEmpty;
    return cells.filter(kind.is).length >= cells.length * SHARE;
  };
}

/** The columns that a column is the running total of: one with signs, or money out and money in. */
interface TotalOf {
  amount?: number;
  debit?: number;
  credit?: number;
}

/** The column whose running total this one is, up or down the table. Undefined if there is none. */
export function totalOf(
  rows: readonly CsvRow[],
  total: number,
  decimal: 'comma' | 'point',
): TotalOf | undefined {
  const values = (place: number) =>
    rows.slice(0, SAMPLE_ROWS).map(({ cells }) => {
      const amount = csvAmount(cells[place] ?? '', decimal);
      if (!amount) return undefined;
      const isOut = amount.isNegative || amount.isBracketed || markOf(amount.mark) === 'debit';
      return isOut ? -amount.minor : amount.minor;
    });
  const totals = values(total);
  const width = Math.max(0, ...rows.slice(0, SAMPLE_ROWS).map(({ cells }) => cells.length));
  const others = Array.from({ length: width }, (_, place) => place)
    .filter((place) => place !== total && contentFit(rows)('amount', place))
    .map((place) => ({ place, values: values(place) }));
  for (const { place, values } of others)
    if (
      leads(
        totals,
        values.map((one) => one ?? 0),
      )
    )
      return { amount: place };
  for (const out of others)
    for (const into of others) {
      const changes = out.values.map((one, i) => (into.values[i] ?? 0) - Math.abs(one ?? 0));
      const areApart = out.values.every((one, i) => !one || !into.values[i]);
      if (out !== into && areApart && leads(totals, changes)) return { debit: out.place, credit: into.place };
    }
  return undefined;
}

/** Steps that have to fit: one or two columns of numbers fit by chance as well. */
const STEPS = 2;

/** Whether changes lead from each total to the next one, in either direction. */
function leads(totals: readonly (number | undefined)[], changes: readonly number[]): boolean {
  return [1, -1].some((direction) => {
    let steps = 0;
    let known: number | undefined;
    let since = 0;
    for (let i = direction === 1 ? 0 : totals.length - 1; i >= 0 && i < totals.length; i += direction) {
      since += changes[i]!;
      const total = totals[i];
      if (total === undefined) continue;
      if (known !== undefined && known + since !== total) return false;
      if (known !== undefined && since !== 0) steps++;
      known = total;
      since = 0;
    }
    return steps >= STEPS;
  });
}
