// Reads a file of bank statements: opens archives, finds the format, and turns every failure into a fault.
import { archivedFiles, isArchive } from './archive.ts';
import { readCamt } from './camt.ts';
import { type CsvSeen, type ReadOptions, readCsv } from './csv.ts';
import { headOf, type TextSource } from './csv-table.ts';
import {
  allBytes,
  type ByteSource,
  beginningOf,
  bytesInMemory,
  decodeText,
  decodingOf,
  textPieces,
} from './decoding.ts';
import { knownAccount } from './known-account.ts';
import { isMt940, readMt940 } from './mt940.ts';
import { isOfx, readOfx } from './ofx.ts';
import { StatementRefused } from './refusal.ts';
import type { Statement, StatementFault, StatementLine, TakeLine } from './statement.ts';

/** 64 MB, as it lies and unpacked. */
export const FILE_BYTES_MAXIMUM = 64 * 1024 * 1024;
/** How much of a file is looked at to find its format. */
const HEAD_CHARACTERS = 4096;
/** Documents that are ZIP archives and no statements. */
const OFFICE = /\.(?:xlsx|docx|pptx|ods|odt)$/i;

/** What a reader gives. `faults` belong to no statement: a file that cannot be read at all has one of these and no statement. */
export interface ReadStatements {
  statements: Statement[];
  faults: (StatementFault & { file: string })[];
  /** What a person should know of files although nothing is wrong. Missing if there is nothing. */
  notes?: (StatementFault & { file: string })[];
  /** How each CSV file was read. */
  csv?: CsvSeen[];
}

/**
 * All statements of a file or an archive. Never throws for what a file holds: a file that cannot be read is one fault, and the other files
 * of its archive are still read. `name` is the file's name for people. `options` say what a file does not.
 */
export function readStatements(bytes: Uint8Array, name: string, options?: ReadOptions): ReadStatements {
  const lines: StatementLine[][] = [];
  const read = readInStream(bytesInMemory(bytes), name, options, (line, statement) => {
    lines[statement] ??= [];
    lines[statement].push(line);
  });
  const { places, ...whole } = read;
  for (const [i, statement] of read.statements.entries()) statement.lines = lines[places[i]!] ?? [];
  return whole;
}

/** `places`: the number with which the lines of each statement were handed on. Lines with another one are of a file that was refused. */
export interface ReadInStream extends ReadStatements {
  places: number[];
}

/**
 * The same in little memory: each line is handed to `take` with the number of its statement, and `statements` have no `lines`. A large CSV
 * or CAMT file is never held as a whole; `source` is read more than once.
 */
export function readInStream(
  source: ByteSource,
  name: string,
  options: ReadOptions | undefined,
  take: TakeLine,
): ReadInStream {
  const read: ReadInStream = { statements: [], faults: [], places: [] };
  const reading = new Reading(read, options ?? {}, take);
  const refused = (file: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof StatementRefused)) throw error;
      if (error.isOther && file !== name)
        beside.push({ file, line: 0, text: 'This file is no statement, so it was not read.' });
      else read.faults.push({ file, line: error.line, text: error.message });
    }
  };
  const beside: (StatementFault & { file: string })[] = [];
  refused(name, () => {
    if (source.size > FILE_BYTES_MAXIMUM) throw new StatementRefused('The file is larger than 64 MB.');
    if (!isArchive(beginningOf(source))) {
      readOne(source, name, reading);
      return;
    }
    for (const file of archivedFiles(allBytes(source), FILE_BYTES_MAXIMUM)) {
      const path = `${name}/${file.name}`;
      refused(path, () => readOne(bytesInMemory(file.bytes), path, reading));
    }
  });
  // A file that is no statement is nothing wrong beside one that is.
  if (read.statements.length + (read.csv?.length ?? 0) > 0 && beside.length > 0)
    read.notes = [...(read.notes ?? []), ...beside];
  else read.faults.push(...beside);
  if (read.statements.length + read.faults.length === 0)
    read.faults.push({ file: name, line: 0, text: 'The archive holds no file.' });
  return read;
}

/** What was read so far of a file or an archive. */
class Reading {
  readonly read: ReadInStream;
  readonly options: ReadOptions;
  readonly #take: TakeLine;
  /** A number that no statement has yet. */
  #free = 0;

  constructor(read: ReadInStream, options: ReadOptions, take: TakeLine) {
    this.read = read;
    this.options = options;
    this.#take = take;
  }

  /** Reads the statements of one file, which count from 0 for `work`. */
  add(work: (take: TakeLine) => { statements: Statement[]; places?: number[] }): void {
    const first = this.#free;
    const found = work((line, statement) => {
      this.#free = Math.max(this.#free, first + statement + 1);
      this.#take(line, first + statement);
    });
    const { statements, places = statements.map((_, i) => i) } = found;
    this.#free = Math.max(this.#free, first + Math.max(-1, ...places) + 1);
    this.read.statements.push(...statements);
    this.read.places.push(...places.map((place) => first + place));
  }
}

function readOne(source: ByteSource, file: string, reading: Reading): void {
  const { read, options } = reading;
  if (source.size === 0) throw new StatementRefused('The file is empty.', 0, true);
  if (isArchive(beginningOf(source)))
    throw new StatementRefused('The archive holds another archive.', 0, OFFICE.test(file));
  const decoding = decodingOf(source, options.encoding);
  const text = { pieces: () => textPieces(source, decoding) };
  const head = headOf(text, HEAD_CHARACTERS).slice(0, HEAD_CHARACTERS);
  const addWhole = (statements: readonly Statement[]) =>
    reading.add((take) => {
      for (const [i, { lines }] of statements.entries()) for (const line of lines) take(line, i);
      return { statements: statements.map((one) => ({ ...one, lines: [] })) };
    });
  const known = knownAccount(options);
  if (isOfx(head)) addWhole(readOfx(decodeText(source, decoding), file, known));
  else if (/^\s*</.test(head))
    reading.add((take) => {
      const statements = readCamt(text.pieces(), file, known, take);
      if (statements.length > 0) return { statements };
      throw new StatementRefused('The XML holds no statement of camt.052, camt.053 or camt.054.', 0, true);
    });
  else if (isMt940(head)) addWhole(readMt940(decodeText(source, decoding), file, known));
  else readTable(text, file, reading);
  if (decoding.note !== undefined)
    read.notes = [...(read.notes ?? []), { file, line: 0, text: decoding.note }];
}

/** The first row that has letters, for a person. */
function firstRow(text: TextSource): string {
  const row = headOf(text, HEAD_CHARACTERS)
    .split(/\r\n?|\n/)
    .find((one) => /\p{L}/u.test(one));
  return row === undefined || row.includes('\0') ? '' : `, such as "${row.replaceAll('"', '').slice(0, 80)}"`;
}

function readTable(text: TextSource, file: string, reading: Reading): void {
  const { read, options } = reading;
  let isText = true;
  for (const piece of text.pieces()) if (piece.includes('\0')) isText = false;
  let seen: CsvSeen | undefined;
  reading.add((take) => {
    const table = isText ? readCsv(text, file, options, take) : undefined;
    if (!table)
      throw new StatementRefused(
        `The format is not known: no row has a day and an amount that can be read${firstRow(text)}. Export the statement as CAMT.053, CAMT.052, CAMT.054, MT940, MT942, OFX or CSV.`,
        0,
        true,
      );
    seen = table.seen;
    return table;
  });
  const { questions, headerLine = 0 } = seen!;
  read.faults.push(...questions.map(({ text }) => ({ file, line: headerLine, text })));
  read.csv = [...(read.csv ?? []), seen!];
}
