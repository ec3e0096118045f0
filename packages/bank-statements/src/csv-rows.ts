// Takes CSV apart into rows of cells, each with its line in the file.
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

/**
 * The rows of a text, at most `maximum`; empty ones as well. They are added to `rows` one by one. Throws `StatementRefused` for a text
 * that is no CSV with these marks.
 */
export function csvRows(
  text: string,
  { delimiter, quote }: Pick<CsvLayout, 'delimiter' | 'quote'>,
  maximum = Number.POSITIVE_INFINITY,
  rows: CsvRow[] = [],
): CsvRow[] {
  for (const row of eachRow(text, CSV_MARKS.delimiter[delimiter], CSV_MARKS.quote[quote])) {
    if (rows.length === maximum) break;
    rows.push(row);
  }
  return rows;
}

/** RFC 4180 as banks write it: any line end, quotation marks inside of plain cells, and behind a quoted part of one. */
function* eachRow(text: string, delimiter: string, quote: string): Generator<CsvRow> {
  let [at, line] = [0, 1];
  while (at < text.length) {
    const end = lineEnd(text, at);
    const plain = text.slice(at, end);
    if (!plain.includes(quote)) {
      yield { cells: plain.split(delimiter).map(plainCell), line };
      at = behind(text, end);
      line += 1;
      continue;
    }
    const { cells, next } = quotedRow(text, at, line, { delimiter, quote });
    const raw = text.slice(at, next);
    const inner = raw.replace(/(?:\r\n?|\n)$/, '').split(LINE_END);
    yield { cells: cells.map(plainCell), line, ...(inner.length > 1 && { inner }) };
    at = next;
    line += inner.length;
  }
}

const plainCell = (cell: string) => {
  const trimmed = cell.trim();
  return trimmed.startsWith('="') && trimmed.endsWith('"') ? trimmed.slice(2, -1).trim() : trimmed;
};

function lineEnd(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  const end = feed < 0 ? text.length : feed;
  const carriage = text.slice(from, end).indexOf('\r');
  return carriage < 0 ? end : from + carriage;
}

/** Where the line behind a line end begins. */
const behind = (text: string, end: number) => end + (text.startsWith('\r\n', end) ? 2 : 1);

function quotedRow(
  text: string,
  start: number,
  line: number,
  { delimiter, quote }: { delimiter: string; quote: string },
): { cells: string[]; next: number } {
  const cells: string[] = [];
  let at = start;
  for (;;) {
    const opening = at + /^ */.exec(text.slice(at, at + 40))![0].length;
    const isQuoted = text[opening] === quote;
    const stop = isQuoted
      ? quotedEnd(text, opening, { delimiter, quote, start, line })
      : plainEnd(text, at, delimiter);
    const cell = text.slice(isQuoted ? opening + 1 : at, stop.end);
    cells.push(isQuoted ? cell.replaceAll(quote + quote, quote) : cell);
    if (text[stop.next] === delimiter) at = stop.next + 1;
    else return { cells, next: stop.next >= text.length ? text.length : behind(text, stop.next) };
  }
}

function plainEnd(text: string, from: number, delimiter: string): { end: number; next: number } {
  const [end, mark] = [lineEnd(text, from), text.indexOf(delimiter, from)];
  const stop = mark >= 0 && mark < end ? mark : end;
  return { end: stop, next: stop };
}

/** A quotation mark ends a cell if a delimiter or a line end stands behind it. */
function quotedEnd(
  text: string,
  opening: number,
  { delimiter, quote, start, line }: { delimiter: string; quote: string; start: number; line: number },
): { end: number; next: number } {
  let at = opening + 1;
  for (;;) {
    const found = text.indexOf(quote, at);
    if (found < 0 || found - start > ROW_CHARACTERS)
      throw new StatementRefused('A quotation mark of this row is not closed.', line);
    if (text[found + 1] === quote) at = found + 2;
    else {
      let next = found + 1;
      while (text[next] === ' ') next++;
      const sign = text[next];
      if (sign === undefined || sign === delimiter || sign === '\n' || sign === '\r')
        return { end: found, next };
      at = found + 1;
    }
  }
}

export const isBlank = ({ cells }: CsvRow): boolean => cells.every((cell) => cell === '');
