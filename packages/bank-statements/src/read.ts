// Reads a file of bank statements: opens archives, finds the format, and turns every failure into a fault.
import { archivedFiles, isArchive } from './archive.ts';
import { readCamt } from './camt.ts';
import { type CsvSeen, type ReadOptions, readCsv } from './csv.ts';
import { decodeText, decodingOf, textPieces } from './decoding.ts';
import { isMt940, readMt940 } from './mt940.ts';
import { isOfx, readOfx } from './ofx.ts';
import { StatementRefused } from './refusal.ts';
import type { Statement, StatementFault } from './statement.ts';

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
  const read: ReadStatements = { statements: [], faults: [] };
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
    if (bytes.length > FILE_BYTES_MAXIMUM) throw new StatementRefused('The file is larger than 64 MB.');
    if (!isArchive(bytes)) {
      readOne(bytes, name, read, options);
      return;
    }
    for (const file of archivedFiles(bytes, FILE_BYTES_MAXIMUM)) {
      const path = `${name}/${file.name}`;
      refused(path, () => readOne(file.bytes, path, read, options));
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

function readOne(bytes: Uint8Array, file: string, read: ReadStatements, options: ReadOptions = {}): void {
  if (bytes.length === 0) throw new StatementRefused('The file is empty.', 0, true);
  if (isArchive(bytes))
    throw new StatementRefused('The archive holds another archive.', 0, OFFICE.test(file));
  const decoding = decodingOf(bytes, options.encoding);
  const head = textPieces(bytes, decoding).next().value!.slice(0, HEAD_CHARACTERS);
  if (isOfx(head)) read.statements.push(...readOfx(decodeText(bytes, decoding), file));
  else if (/^\s*</.test(head)) {
    const statements = readCamt(textPieces(bytes, decoding), file);
    if (statements.length === 0)
      throw new StatementRefused('The XML holds no statement of camt.052, camt.053 or camt.054.', 0, true);
    read.statements.push(...statements);
  } else if (isMt940(head)) read.statements.push(...readMt940(decodeText(bytes, decoding), file));
  else readTable(decodeText(bytes, decoding), file, read, options);
  if (decoding.note !== undefined)
    read.notes = [...(read.notes ?? []), { file, line: 0, text: decoding.note }];
}

function readTable(text: string, file: string, read: ReadStatements, options: ReadOptions): void {
  const table = text.includes('\0') ? undefined : readCsv(text, file, options);
  if (!table)
    throw new StatementRefused(
      'The format is not known. Export the statement as CAMT.053, CAMT.052, CAMT.054, MT940, MT942, OFX or CSV.',
      0,
      true,
    );
  read.statements.push(...table.statements);
  const { questions, headerLine = 0 } = table.seen;
  read.faults.push(...questions.map(({ text }) => ({ file, line: headerLine, text })));
  read.csv = [...(read.csv ?? []), table.seen];
}
