// Reads the rows of a CSV table in their order: entries with the rows that go on with them, balances, footers, and what is wrong.
import { isAmount, isDay } from './csv-columns.ts';
import type { CsvLayout } from './csv-layout.ts';
import { CSV_MARKS } from './csv-layout.ts';
import { type RowRead, rowReader } from './csv-line.ts';
import type { CsvRow } from './csv-rows.ts';
import type { CsvTable } from './csv-table.ts';
import type { LineRead } from './fingerprint.ts';
import type { StatementFault } from './statement.ts';
import { folded } from './values.ts';

type More = Extract<RowRead, { kind: 'more' }> & { at: number };

/** A row with a day and an amount, and the rows below that go on with it. */
export type CsvEntry = Extract<RowRead, { kind: 'line' }> & { more: readonly More[] };

/** What a table holds besides its entries. */
export interface CsvRowsSaid {
  faults: StatementFault[];
  notes: StatementFault[];
  /** Balances in rows of their own, in hundredths. */
  told: Partial<Record<'opening' | 'closing', number>>;
}

/** Hands on each entry of a table. Returns what else its rows say, and the table as all of them tell it. */
export function readRows(
  table: CsvTable,
  layout: CsvLayout,
  take: (entry: CsvEntry) => void,
): { said: CsvRowsSaid; whole: CsvTable } {
  const read = rowReader(layout, table.names);
  const said: CsvRowsSaid = { faults: [], notes: [], told: {} };
  const voided = new Map<string, number>();
  /** Words that are a footer unless a line follows. */
  let words: StatementFault[] = [];
  let hasLine = false;
  /** The entry that the next row may continue. */
  let open: CsvEntry | undefined;
  const close = () => {
    if (open && partsIn(open).length < 2 && open.more.some(({ isMoney }) => isMoney)) {
      said.faults.push(...open.more.filter(({ isMoney }) => isMoney).map(withoutDay));
      open.more = open.more.filter(({ isMoney }) => !isMoney);
    }
    if (open) take(open);
    open = undefined;
  };
  // A quotation mark among the names may swallow the first rows.
  for (const row of [...table.preamble, table.header])
    if (row?.inner) said.faults.push(...swallowed(row, table, layout, read, 3));
  const { header } = table;
  if (header?.cells.some(isDay) && header.cells.some(isAmount))
    said.faults.push({
      line: header.line,
      text: 'The row of names holds a line as well, which is left out.',
    });
  const whole = table.eachRow((row) => {
    const one = read(row);
    if (one.kind === 'line') {
      close();
      hasLine = true;
      open = { ...one, more: NO_MORE };
      if (words.length > 0) said.faults.push(...words.map(leftOut));
      words = [];
    } else if (one.kind === 'more' && open) open.more = [...open.more, { ...one, at: row.line }];
    else {
      close();
      if (one.kind === 'more' && one.isMoney) said.faults.push(withoutDay({ at: row.line }));
      else if (one.kind === 'fault') said.faults.push({ line: row.line, text: one.text });
      else if (one.kind === 'balance' && one.minor !== undefined) said.told[one.which] = one.minor;
      else if (one.kind === 'void') voided.set(one.status, (voided.get(one.status) ?? 0) + 1);
      else if (one.kind === 'words' || one.kind === 'more') words.push({ line: row.line, text: one.text });
    }
    if (row.inner) said.faults.push(...swallowed(row, table, layout, read));
  });
  close();
  if (words.length > 0 && hasLine) said.notes.push(footer(words));
  else said.faults.push(...words.map(leftOut));
  for (const [status, count] of voided)
    said.notes.push({
      line: 0,
      text: `Rows that moved no money are left out: ${count} with the status "${status}".`,
    });
  return { said, whole };
}

const NO_MORE: readonly More[] = [];

/** Characters of a text that is shown. */
const SHOWN = 60;

const leftOut = ({ line, text }: StatementFault): StatementFault => ({
  line,
  text: `This row is left out: "${text.slice(0, SHOWN)}" cannot be read as a day and an amount.`,
});

const withoutDay = ({ at }: Pick<More, 'at'>): StatementFault => ({
  line: at,
  text: 'This row is left out: the day "" cannot be read.',
});

function footer(words: readonly StatementFault[]): StatementFault {
  const [first] = words;
  const rows = words.length === 1 ? 'The last row is no line' : `The last ${words.length} rows are no lines`;
  return { line: first!.line, text: `${rows} of the account: "${folded(first!.text)!.slice(0, SHOWN)}".` };
}

/** A fault for each line of text inside a row that would be a row of its own, of `least` cells, but for a quotation mark before it. */
function swallowed(
  { inner, line }: CsvRow,
  { names, delimiter, quote }: CsvTable,
  layout: CsvLayout,
  read: (row: CsvRow) => RowRead,
  least = names.length - 1,
): StatementFault[] {
  if (!inner || layout.delimiter !== delimiter) return [];
  return inner.slice(1).flatMap((text, place) => {
    const cells = text
      .split(CSV_MARKS.delimiter[delimiter])
      .map((cell) => cell.replaceAll(CSV_MARKS.quote[quote], '').trim());
    const at = line + 1 + place;
    const isRow =
      cells.length >= least && read({ cells: cells.slice(0, names.length), line: at }).kind === 'line';
    return isRow
      ? [
          {
            line: at,
            text: 'This row stands inside quotation marks that begin in a row above, so it is left out.',
          },
        ]
      : [];
  });
}

/** The parts of an entry; none if they do not come to its amount. */
function partsIn({ line, more }: CsvEntry): (More & { minor: number })[] {
  const parts = more.filter((one): one is More & { minor: number } => one.minor !== undefined);
  const sum = parts.reduce((all, { minor }) => all + Math.abs(minor), 0);
  return sum === line.amountMinor ? parts : [];
}

/** The lines of an entry: its parts if their sum is its amount, otherwise the entry with the texts of the rows below it. */
export function partsOf(entry: CsvEntry, notes: StatementFault[]): LineRead[] {
  const { line, more } = entry;
  if (more.length === 0) return [line];
  const parts = partsIn(entry);
  if (parts.length > 1)
    return parts.map(({ at, minor, text, words }) => ({
      ...line,
      at,
      amountMinor: Math.abs(minor),
      references: { ...line.references, ...words.references },
      text: text === '' ? line.text : text,
      counterparty: words.counterparty.name === undefined ? line.counterparty : words.counterparty,
      partOf: { minor: line.amountMinor, lines: parts.length },
    }));
  if (more.filter(({ minor }) => minor !== undefined).length > 1)
    notes.push({
      line: line.at,
      text: 'The parts below this row do not come to its amount, so it stays one line.',
    });
  return [
    { ...line, text: [line.text, ...more.map(({ text }) => text)].filter((text) => text !== '').join('\n') },
  ];
}
