// Finds the table in a CSV file: its marks, the row of names, what stands above it, and its rows.
import { contentFit, isAmount, isDay } from './csv-columns.ts';
import { areEnough, columnNames, columnsByName, isBalanceName, isKnownName } from './csv-headers.ts';
import { CSV_MARKS, type CsvColumns, type CsvLayout, type PartialLayout } from './csv-layout.ts';
import { csvProfileOf } from './csv-profiles.ts';
import { type CsvRow, csvRows, eachRow, isBlank } from './csv-rows.ts';
import { CsvSurvey, SAMPLE_ROWS } from './csv-survey.ts';
import { markOf } from './csv-values.ts';
import { statusOf } from './csv-words.ts';
import { StatementRefused } from './refusal.ts';

export interface CsvTable extends Pick<CsvLayout, 'delimiter' | 'quote'> {
  /** Each column's name, once. */
  names: string[];
  /** Line of the row of names; undefined if the file has none. */
  headerLine: number | undefined;
  /** Rows above the names, and the row of names. */
  preamble: CsvRow[];
  header: CsvRow | undefined;
  /** The first rows below. */
  sample: CsvRow[];
  /** What stands in each column of the rows that were looked at. */
  survey: CsvSurvey;
  /** Hands on each row below. Returns the table as all of them tell it. */
  eachRow(take: (row: CsvRow) => void): CsvTable;
  profile: ReturnType<typeof csvProfileOf>;
  /** What the columns hold by their names, or by what stands in them. */
  columns: CsvColumns;
  /** Whether a row of names that are known was found. */
  isNamed: boolean;
}

/** Rows in which the names are looked for. */
const HEAD_ROWS = 60;
/** A delimiter has to stand in the first characters. */
const START_CHARACTERS = 64 * 1024;
/** Profiles are above everything that is known by its names alone. */
const PROFILE_SCORE = 1000;

interface Found extends Pick<CsvTable, 'names' | 'profile' | 'columns' | 'isNamed'> {
  /** Where the names stand among the rows; -1 if the file has none. */
  place: number;
  score: number;
}

/** A text that can be read again from its beginning. */
export interface TextSource {
  pieces(): Iterable<string>;
}

/** Characters that are looked at for the names and the marks. */
const HEAD_CHARACTERS = 1_000_000;

/** At least so many of the first characters, or all. */
export function headOf(source: TextSource, characters: number): string {
  let head = '';
  for (const piece of source.pieces()) {
    head += piece;
    if (head.length >= characters) break;
  }
  return head;
}

/**
 * The table of a file, as far as its first rows tell; undefined for a text that is none. `known`: layouts of other exports, whose columns
 * are looked at as well. Throws `StatementRefused` for quotation marks that are not closed.
 */
export function csvTable(
  source: TextSource,
  chosen: PartialLayout,
  known: readonly CsvColumns[] = [],
): CsvTable | undefined {
  const head = headOf(source, HEAD_CHARACTERS);
  const found = foundIn(head, chosen);
  if (!found) return undefined;
  const { place, score, head: rows, ...table } = found;
  const sample = csvRows(head, table, place + 1 + SAMPLE_ROWS).slice(place + 1);
  const columns = [table.columns, table.profile?.layout.columns ?? {}, chosen.columns, ...known];
  const newSurvey = () => new CsvSurvey(table.names, sample, columns);
  const ofSurvey = (survey: CsvSurvey): CsvTable => ({
    ...table,
    ...(survey.width > table.names.length && { names: columnNames(table.names, survey.width) }),
    headerLine: rows[place]?.line,
    preamble: rows.slice(0, Math.max(0, place)),
    header: rows[place],
    ...{ sample, survey },
    eachRow(take) {
      const whole = newSurvey();
      let behind = place + 1;
      eachRow(source.pieces(), table, (row) => {
        if (behind > 0) behind--;
        else {
          whole.add(row);
          take(row);
        }
        return true;
      });
      return ofSurvey(whole);
    },
  });
  const survey = newSurvey();
  for (const row of sample) survey.add(row);
  return ofSurvey(survey);
}

/** The first rows of a file, and what was found in them. */
type FoundIn = Found & Pick<CsvLayout, 'delimiter' | 'quote'> & { head: CsvRow[] };

function foundIn(text: string, chosen: PartialLayout): FoundIn | undefined {
  const delimiters = chosen.delimiter
    ? [chosen.delimiter]
    : (Object.keys(CSV_MARKS.delimiter) as CsvLayout['delimiter'][]);
  let best: FoundIn | undefined;
  let refused: StatementRefused | undefined;
  const start = text.slice(0, START_CHARACTERS);
  for (const delimiter of delimiters.filter((one) => start.includes(CSV_MARKS.delimiter[one]))) {
    const quote = chosen.quote ?? quoteOf(text, CSV_MARKS.delimiter[delimiter]);
    const head: CsvRow[] = [];
    try {
      csvRows(text, { delimiter, quote }, HEAD_ROWS, head);
      const found = byChoice(head, chosen) ?? byNames(head) ?? byContent(head);
      if (found && found.score > (best?.score ?? 0)) best = { ...found, delimiter, quote, head };
    } catch (error) {
      if (!(error instanceof StatementRefused)) throw error;
      // A text that is no table has quotation marks as well.
      if (byNames(head) ?? byContent(head)) refused = error;
    }
  }
  if (!best && refused) throw refused;
  return best;
}

/** Single quotation marks, if cells of the first rows stand between such and none between double ones. */
function quoteOf(text: string, delimiter: string): CsvLayout['quote'] {
  const head = text.slice(0, 4096);
  return !head.includes('"') && head.includes(`'${delimiter}'`) ? 'single' : 'double';
}

/** The first row that has all columns of the chosen layout. */
function byChoice(head: readonly CsvRow[], { columns }: PartialLayout): Found | undefined {
  const wanted = Object.values(columns).flat();
  if (wanted.length === 0) return undefined;
  const place = head.findIndex((row) => !isBlank(row) && has(columnNames(row.cells), wanted));
  if (place >= 0 && wanted.some((name) => !/^#\d+$/.test(name)))
    return {
      ...namedBy(columnNames(head[place]!.cells), head.slice(place + 1)),
      place,
      score: PROFILE_SCORE,
    };
  return undefined;
}

const has = (names: readonly string[], wanted: readonly string[]) =>
  wanted.every((name) => names.includes(name));

function namedBy(
  names: string[],
  below: readonly CsvRow[],
): Pick<Found, 'names' | 'profile' | 'columns' | 'isNamed'> {
  const profile = csvProfileOf(names);
  const columns = profile?.layout.columns ?? withFound(names, columnsByName(names, contentFit(below)), below);
  return { names, profile, columns, isNamed: true };
}

/**
 * A column in which every row has a mark tells the direction, whatever its name, and one of words for what is booked, pending or void
 * the status.
 */
function withFound(names: readonly string[], columns: CsvColumns, below: readonly CsvRow[]): CsvColumns {
  const taken = Object.entries(columns).flatMap(([role, held]) =>
    role === 'text' || role === 'code' ? [] : held,
  );
  const lines = below.filter(isLine);
  if (lines.length === 0) return columns;
  const every = (is: (cell: string) => boolean) =>
    names.find((name, place) => !taken.includes(name) && lines.every(({ cells }) => is(cells[place] ?? '')));
  const mark = columns.amount && !columns.mark && every((cell) => markOf(cell) !== undefined);
  const status = !columns.status && every((cell) => !/\s\S+\s/.test(cell) && statusOf(cell) !== undefined);
  const isTold = (name: string) =>
    lines.some(({ cells }) => statusOf(cells[names.indexOf(name)] ?? '') !== 'booked');
  return {
    ...columns,
    ...(mark && { mark: [mark] }),
    ...(status && isTold(status) && { status: [status] }),
  };
}

/** The first row whose names say enough. */
function byNames(head: readonly CsvRow[]): Found | undefined {
  for (const [place, { cells }] of head.entries()) {
    const named = namedBy(columnNames(cells), head.slice(place + 1));
    if (!areEnough(named.columns)) continue;
    // Words that sound like names of columns stand in any text: then a row below has to be a line.
    const isSure =
      named.profile !== undefined || Object.values(named.columns).flat().filter(isKnownName).length >= 2;
    if (!isSure && !head.slice(place + 1).some(isLine)) continue;
    const { profile, columns } = named;
    return {
      ...named,
      place,
      score: profile ? PROFILE_SCORE + profile.needed.length : Object.keys(columns).length,
    };
  }
  return undefined;
}

const isLine = ({ cells }: CsvRow) => cells.some(isDay) && cells.some(isAmount);

/** A table whose names are not known: rows that each hold a day and an amount. */
function byContent(head: readonly CsvRow[]): Found | undefined {
  const lines = head.filter(isLine);
  if (lines.length === 0) return undefined;
  const first = head.indexOf(lines[0]!);
  const width = Math.max(...lines.map(({ cells }) => cells.length));
  const above = head[first - 1];
  const isHeader =
    above !== undefined &&
    above.cells.length === lines[0]!.cells.length &&
    !above.cells.every((cell) => cell === '');
  const names = columnNames(isHeader ? above.cells : Array.from({ length: width }, () => ''));
  const most = (is: (cell: string) => boolean) => {
    // A column that is called a balance is no amount.
    const counts = names.map((name, column) =>
      isBalanceName(name) ? 0 : lines.filter(({ cells }) => is(cells[column] ?? '')).length,
    );
    return names[counts.indexOf(Math.max(...counts))]!;
  };
  return {
    ...{ names, profile: undefined, isNamed: false },
    columns: { day: [most(isDay)], amount: [most(isAmount)] },
    place: isHeader ? first - 1 : -1,
    score: lines.length / HEAD_ROWS,
  };
}
