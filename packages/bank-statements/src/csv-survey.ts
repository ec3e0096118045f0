// What stands in the columns of a CSV table, gathered row by row: all that tells how the table is to be read.
import { contentFit, isAmount, isDay } from './csv-columns.ts';
import type { CsvColumns, CsvRole, DateOrder, DecimalWord } from './csv-layout.ts';
import type { CsvRow } from './csv-rows.ts';
import { csvAmountOfAny, dayOrdersOf, decimalsOf, markOf, plainAmount } from './csv-values.ts';

/** Rows at the beginning that tell which columns are looked at. */
export const SAMPLE_ROWS = 300;
/** Different words of a column that are kept. A status has a few. */
const WORDS_MAXIMUM = 1000;
const DAYS: readonly CsvRole[] = ['day', 'value'];
const MONEY: readonly CsvRole[] = ['amount', 'debit', 'credit', 'balance', 'charges'];

/** Amounts of a column, and of those with a mark beside them in another one. */
class Amounts {
  count = 0;
  isNegative = false;
  isBracketed = false;
  readonly currencies = new Set<string>();
  /** What they tell of the decimal mark in a currency of two decimals or fewer, and in one of three. */
  readonly decimals: Record<'two' | 'three', Decimals> = {
    two: { told: new Set(), unclear: undefined },
    three: { told: new Set(), unclear: undefined },
  };
  /** By the column of the mark, -1 for a mark beside the number: how many amounts have one, and whether one says other than its sign. */
  readonly marks: Map<number, { marked: number; differ: boolean }>;

  constructor(markPlaces: Iterable<number>) {
    this.marks = new Map([-1, ...markPlaces].map((place) => [place, { marked: 0, differ: false }]));
  }

  add(cell: string, { cells, line }: CsvRow): void {
    const plain = plainAmount(cell);
    const { two, three } = this.decimals;
    if (plain?.decimal) {
      two.told.add(plain.decimal);
      three.told.add(plain.decimal);
    } else if (!plain) {
      addDecimals(two, cell, line);
      addDecimals(three, cell, line, 'KWD');
    }
    const amount = plain ?? csvAmountOfAny(cell);
    if (!amount) return;
    this.count++;
    if (amount.currency !== undefined) this.currencies.add(amount.currency);
    const isMoving = amount.minor !== 0;
    if (isMoving && amount.isNegative) this.isNegative = true;
    if (isMoving && amount.isBracketed) this.isBracketed = true;
    for (const [place, found] of this.marks) {
      const mark = markOf((place >= 0 && cells[place]) || amount.mark);
      if (mark === undefined) continue;
      found.marked++;
      if (isMoving && (amount.isNegative || amount.isBracketed) !== (mark === 'debit')) found.differ = true;
    }
  }
}

interface Decimals {
  told: Set<DecimalWord>;
  /** The first amount that can be read in two ways, and where. */
  unclear: { text: string; line: number } | undefined;
}

function addDecimals(decimals: Decimals, cell: string, line: number, currency?: string): void {
  const { possible, asks } = decimalsOf(cell, currency);
  if (possible.length === 1) decimals.told.add(possible[0]!);
  if (asks) decimals.unclear ??= { text: cell, line };
}

/** Days of a column: the orders in which all of them can be read, and the day that told the last of it. */
interface Days {
  orders: readonly DateOrder[];
  example: string | undefined;
}

/** A column of numbers, each one more or one less than the one before. */
interface Count {
  before: number | undefined;
  length: number;
}

export class CsvSurvey {
  rows = 0;
  readonly #days = new Map<number, Days>();
  readonly #amounts = new Map<number, Amounts>();
  readonly #words = new Map<number, Set<string>>();
  /** By column: whether a cell holds more than a day or an amount, the count that it is, and its only value. */
  readonly #isWord: boolean[] = [];
  readonly #counts: (Count | undefined)[] = [];
  readonly #only: (string | undefined)[] = [];
  readonly #filled: number[] = [];
  /** How many rows have so many cells up to the last one that is not empty. */
  readonly #widths: number[] = [];

  /** `columns`: what the columns with these names may hold. Others are looked at by what stands in the first rows. */
  constructor(names: readonly string[], sample: readonly CsvRow[], columns: readonly CsvColumns[]) {
    const placesOf = (roles: readonly CsvRole[]) =>
      new Set(
        columns.flatMap((one) =>
          roles.flatMap((role) => (one[role] ?? []).map((name) => placeOf(names, name))),
        ),
      );
    const width = Math.max(names.length, ...sample.map(({ cells }) => cells.length));
    const fits = contentFit(sample);
    for (let place = 0; place < width; place++) {
      if (sample.some(({ cells }) => isDay(cells[place] ?? ''))) this.#days.set(place, noDays());
      if (fits('amount', place)) this.#amounts.set(place, new Amounts(placesOf(['mark'])));
    }
    for (const place of placesOf(DAYS)) this.#days.set(place, noDays());
    for (const place of placesOf(MONEY)) this.#amounts.set(place, new Amounts(placesOf(['mark'])));
    for (const place of placesOf(['status', 'currency'])) this.#words.set(place, new Set());
  }

  add(row: CsvRow): void {
    const { cells } = row;
    this.rows++;
    let last = -1;
    for (let place = 0; place < cells.length; place++) {
      const cell = cells[place]!;
      if (cell === '') continue;
      last = place;
      this.#add(cell, place);
    }
    if (last < 0) return;
    this.#widths[last + 1] = (this.#widths[last + 1] ?? 0) + 1;
    for (const [place, days] of this.#days) addDay(days, cells[place] ?? '');
    for (const [place, amounts] of this.#amounts) if (cells[place]) amounts.add(cells[place], row);
    for (const [place, words] of this.#words)
      if (cells[place] && words.size < WORDS_MAXIMUM) words.add(cells[place]);
  }

  #add(cell: string, place: number): void {
    const filled = (this.#filled[place] ?? 0) + 1;
    this.#filled[place] = filled;
    if (filled === 1) {
      this.#only[place] = cell;
      this.#counts[place] = { before: undefined, length: 0 };
    } else if (this.#only[place] !== undefined && this.#only[place] !== cell) this.#only[place] = undefined;
    const count = this.#counts[place];
    if (count && !goesOn(count, cell)) this.#counts[place] = undefined;
    if (!this.#isWord[place]) this.#isWord[place] = !isDayOrAmount(cell);
  }

  /** The number of cells of most rows, up to the last one that is not empty: banks leave names out at the end. */
  get width(): number {
    const all = this.#widths.reduce((sum, count) => sum + (count ?? 0), 0);
    let behind = 0;
    for (const [width, count = 0] of this.#widths.entries()) {
      behind += count;
      if (behind > all / 2) return width;
    }
    return 0;
  }

  days(place: number): Days | undefined {
    return this.#days.get(place);
  }

  amounts(place: number): Amounts | undefined {
    return this.#amounts.get(place);
  }

  /** The different words of a column whose role is a status or a currency. */
  words(place: number): string[] {
    return [...(this.#words.get(place) ?? [])];
  }

  /** Whether a column holds more than days, amounts and numbers of rows, which are others in the next export. */
  isText(place: number): boolean {
    const count = this.#counts[place];
    return Boolean(this.#isWord[place]) && !(count && count.length > 1);
  }

  /** Whether several rows have a cell in a column, and all the same one. */
  isOneValue(place: number): boolean {
    return (this.#filled[place] ?? 0) > 1 && this.#only[place] !== undefined;
  }
}

/** The column of a name; `#7` is the seventh one where the rows have more cells than there are names. */
function placeOf(names: readonly string[], name: string): number {
  const place = names.indexOf(name);
  return place < 0 ? Number(/^#(\d{1,4})$/.exec(name)?.[1] ?? 0) - 1 : place;
}

const noDays = (): Days => ({ orders: ['dmy', 'mdy', 'ymd'], example: undefined });

function addDay(days: Days, cell: string): void {
  if (cell === '' || cell === days.example) return;
  if (days.orders.length === 1 && days.example !== undefined && isPlainDay(cell, days.orders[0]!)) return;
  const possible = dayOrdersOf(cell);
  if (possible.length === 0) return;
  const kept = possible.length >= 3 ? days.orders : days.orders.filter((order) => possible.includes(order));
  if (kept.length === days.orders.length && days.example !== undefined) return;
  days.orders = kept;
  days.example = cell;
}

/** Whether a text is a day of ten characters in an order: most are, and need no expression. */
function isPlainDay(cell: string, order: DateOrder): boolean {
  if (cell.length !== 10) return false;
  const two = (at: number) => {
    const [tens, ones] = [cell.charCodeAt(at) - 0x30, cell.charCodeAt(at + 1) - 0x30];
    return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : 99;
  };
  const [day, month, year] = order === 'dmy' ? [0, 3, 6] : order === 'mdy' ? [3, 0, 6] : [8, 5, 0];
  const sign = cell[order === 'ymd' ? 4 : 2];
  if (!/[./-]/.test(sign!) || cell[order === 'ymd' ? 7 : 5] !== sign) return false;
  return (
    two(day) >= 1 &&
    two(day) <= 28 &&
    two(month) >= 1 &&
    two(month) <= 12 &&
    two(year) < 22 &&
    two(year) > 18 &&
    two(year + 2) < 99
  );
}

function goesOn(count: Count, cell: string): boolean {
  if (!/^\d+$/.test(cell)) return false;
  const number = Number(cell);
  const follows = count.before === undefined || Math.abs(number - count.before) === 1;
  count.before = number;
  count.length++;
  return follows;
}

function isDayOrAmount(cell: string): boolean {
  const plain = plainAmount(cell);
  if (plain && (plain.decimal !== undefined || plain.isNegative)) return true;
  return isPlainDay(cell, 'dmy') || isPlainDay(cell, 'ymd') || isDay(cell) || isAmount(cell);
}
