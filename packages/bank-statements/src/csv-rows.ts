// Takes CSV apart into rows of cells, each with its line in the file, while the text comes piece by piece.
import type { CsvLayout } from './csv-layout.ts';
import { CSV_MARKS } from './csv-layout.ts';
import { StatementRefused } from './refusal.ts';

export interface CsvRow {
  /** Without white space around, and without the `="…"` that keeps spreadsheets from reading a number. */
  cells: string[];
  /** Line of text where the row begins, from 1. */
  line: number;
  /** Lines of text inside the row, where cells have line ends. Missing if there are none. */
  inner?: string[];
}

/** Characters of one row. A quotation mark that is never closed takes the rest of the file into one. */
const ROW_CHARACTERS = 200_000;
const LINE_END = /\r\n?|\n/g;

type Marks = Pick<CsvLayout, 'delimiter' | 'quote'>;

/**
 * The rows of a text, at most `maximum`; empty ones as well. They are added to `rows` one by one. Throws `StatementRefused` for a text
 * that is no CSV with these marks.
 */
export function csvRows(text: string, marks: Marks, maximum: number, rows: CsvRow[] = []): CsvRow[] {
  eachRow([text], marks, (row) => rows.push(row) < maximum);
  return rows;
}

/**
 * Hands on each row of a text that comes in pieces, until `take` returns false. RFC 4180 as banks write it: any line end, quotation marks
 * inside of plain cells, and behind a quoted part of one. Throws as `csvRows` does.
 */
export function eachRow(
  pieces: Iterable<string>,
  { delimiter, quote }: Marks,
  take: (row: CsvRow) => boolean | undefined,
): void {
  const reader = new RowReader(CSV_MARKS.delimiter[delimiter], CSV_MARKS.quote[quote], take);
  for (const piece of pieces) if (!reader.read(piece, false)) return;
  reader.read('', true);
}

class RowReader {
  readonly #delimiter: string;
  readonly #quote: string;
  readonly #take: (row: CsvRow) => boolean | undefined;
  /** What is not read yet of the pieces so far. */
  #text = '';
  #line = 1;

  constructor(delimiter: string, quote: string, take: (row: CsvRow) => boolean | undefined) {
    this.#delimiter = delimiter;
    this.#quote = quote;
    this.#take = take;
  }

  /** Hands on the rows that end in the text so far. Returns false once `take` does. */
  read(piece: string, isLast: boolean): boolean {
    const text = this.#text + piece;
    let at = 0;
    /** The next ones from `at` on; beyond the text if there is none. */
    let [carriage, quoted] = [-1, -1];
    while (at < text.length) {
      if (carriage < at) carriage = placeOf(text, '\r', at);
      if (quoted < at) quoted = placeOf(text, this.#quote, at);
      const end = Math.min(placeOf(text, '\n', at), carriage);
      // The line feed behind a carriage return may be in the next piece.
      if (end >= text.length - 1 && !isLast && text[end] !== '\n') break;
      if (end - at > ROW_CHARACTERS)
        throw new StatementRefused('This row is longer than any of a statement.', this.#line);
      if (quoted >= end) {
        const cells = text.slice(at, end).split(this.#delimiter);
        for (let i = 0; i < cells.length; i++) cells[i] = plainCell(cells[i]!);
        const row = { cells, line: this.#line };
        at = behind(text, end);
        this.#line += 1;
        if (this.#take(row) === false) return false;
        continue;
      }
      const found = quotedRow(text, at, {
        delimiter: this.#delimiter,
        quote: this.#quote,
        line: this.#line,
        isLast,
      });
      if (!found) break;
      const { cells, next } = found;
      const inner = text
        .slice(at, next)
        .replace(/(?:\r\n?|\n)$/, '')
        .split(LINE_END);
      const row = { cells: cells.map(plainCell), line: this.#line, ...(inner.length > 1 && { inner }) };
      at = next;
      this.#line += inner.length;
      if (this.#take(row) === false) return false;
    }
    this.#text = text.slice(at);
    if (this.#text.length > 2 * ROW_CHARACTERS)
      throw new StatementRefused('This row is longer than any of a statement.', this.#line);
    return true;
  }
}

function placeOf(text: string, sign: string, from: number): number {
  const found = text.indexOf(sign, from);
  return found < 0 ? text.length : found;
}

function plainCell(cell: string): string {
  const trimmed = cell.trim();
  return trimmed.charCodeAt(0) === 0x3d && trimmed.startsWith('="') && trimmed.endsWith('"')
    ? trimmed.slice(2, -1).trim()
    : trimmed;
}

/** Where the line behind a line end begins. */
const behind = (text: string, end: number) => end + (text.startsWith('\r\n', end) ? 2 : 1);

/** Marks, the row's line, and whether the text ends where the file does. */
interface Quoted {
  delimiter: string;
  quote: string;
  line: number;
  isLast: boolean;
}

/** The cells of a row with quotation marks, and where the next row begins. Undefined if it does not end in the text so far. */
function quotedRow(text: string, start: number, how: Quoted): { cells: string[]; next: number } | undefined {
  const { delimiter, quote, isLast } = how;
  const cells: string[] = [];
  let at = start;
  for (;;) {
    let opening = at;
    while (text[opening] === ' ' && opening - at < 40) opening++;
    const isQuoted = text[opening] === quote;
    const stop = isQuoted ? quotedEnd(text, opening, start, how) : plainEnd(text, at, delimiter);
    if (!stop || (stop.next >= text.length - 1 && !isLast && text[stop.next] !== '\n')) return undefined;
    const cell = text.slice(isQuoted ? opening + 1 : at, stop.end);
    cells.push(isQuoted && cell.includes(quote) ? cell.replaceAll(quote + quote, quote) : cell);
    if (text[stop.next] === delimiter) at = stop.next + 1;
    else return { cells, next: stop.next >= text.length ? text.length : behind(text, stop.next) };
  }
}

function plainEnd(text: string, from: number, delimiter: string): { end: number; next: number } {
  let stop = from;
  while (stop < text.length && text[stop] !== delimiter && text[stop] !== '\n' && text[stop] !== '\r') stop++;
  return { end: stop, next: stop };
}

/** A quotation mark ends a cell if a delimiter or a line end stands behind it. */
function quotedEnd(
  text: string,
  opening: number,
  start: number,
  { delimiter, quote, line, isLast }: Quoted,
): { end: number; next: number } | undefined {
  let at = opening + 1;
  for (;;) {
    const found = text.indexOf(quote, at);
    if (found - start > ROW_CHARACTERS || (found < 0 && (isLast || text.length - start > ROW_CHARACTERS)))
      throw new StatementRefused('A quotation mark of this row is not closed.', line);
    if (found < 0) return undefined;
    if (text[found + 1] === quote) at = found + 2;
    else {
      let next = found + 1;
      while (text[next] === ' ') next++;
      const sign = text[next];
      if (sign === undefined && !isLast) return undefined;
      if (sign === undefined || sign === delimiter || sign === '\n' || sign === '\r')
        return { end: found, next };
      at = found + 1;
    }
  }
}

export const isBlank = ({ cells }: CsvRow): boolean => cells.every((cell) => cell === '');
