// Takes CSV apart into rows of cells, each with its line in the file.
import { CsvError, parse } from 'csv-parse/sync';
import type { CsvLayout } from './csv-layout.ts';
import { CSV_MARKS } from './csv-layout.ts';
import { StatementRefused } from './refusal.ts';

export interface CsvRow {
  /** Without white space around. */
  cells: string[];
  /** Line of text where the row begins, from 1. */
  line: number;
}

/** Characters of one row. A quotation mark that is never closed takes the rest of the file into one. */
const ROW_CHARACTERS = 200_000;

/** The rows of a text, at most `maximum`; empty ones as well. Throws `StatementRefused` for a text that is no CSV with these marks. */
export function csvRows(
  text: string,
  { delimiter, quote }: Pick<CsvLayout, 'delimiter' | 'quote'>,
  maximum?: number,
): CsvRow[] {
  const rows: CsvRow[] = [];
  let line = 1;
  try {
    parse(text.replaceAll(/\r\n?/g, '\n'), {
      delimiter: CSV_MARKS.delimiter[delimiter],
      quote: CSV_MARKS.quote[quote],
      escape: CSV_MARKS.quote[quote],
      record_delimiter: '\n',
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: ROW_CHARACTERS,
      ...(maximum !== undefined && { to: maximum }),
      on_record(cells: string[], { lines }) {
        rows.push({ cells: cells.map((cell) => cell.trim()), line });
        line = lines + 1;
        return null;
      },
    });
    return rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new StatementRefused('A quotation mark of this row is not closed.', line);
  }
}

export const isBlank = ({ cells }: CsvRow): boolean => cells.every((cell) => cell === '');
