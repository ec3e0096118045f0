// Reads a file of bank statements: opens archives, finds the format, and turns every failure into a fault.
import { archivedFiles, isArchive } from './archive.ts';
import { readCamt } from './camt.ts';
import { decodeText, textPieces } from './decoding.ts';
import { isMt940, readMt940 } from './mt940.ts';
import { isOfx, readOfx } from './ofx.ts';
import { StatementRefused } from './refusal.ts';
import type { ReadStatements, Statement } from './statement.ts';

/** 64 MB, as it lies and unpacked. */
export const FILE_BYTES_MAXIMUM = 64 * 1024 * 1024;
/** How much of a file is looked at to find its format. */
const HEAD_CHARACTERS = 4096;

/**
 * All statements of a file or an archive. Never throws for what a file holds: a file that cannot be read is one fault, and the other files
 * of its archive are still read. `name` is the file's name for people.
 */
export function readStatements(bytes: Uint8Array, name: string): ReadStatements {
  const read: ReadStatements = { statements: [], faults: [] };
  const refused = (file: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof StatementRefused)) throw error;
      read.faults.push({ file, line: error.line, text: error.message });
    }
  };
  refused(name, () => {
    if (bytes.length > FILE_BYTES_MAXIMUM) throw new StatementRefused('The file is larger than 64 MB.');
    if (!isArchive(bytes)) {
      read.statements.push(...readOne(bytes, name));
      return;
    }
    for (const file of archivedFiles(bytes, FILE_BYTES_MAXIMUM)) {
      const path = `${name}/${file.name}`;
      refused(path, () => read.statements.push(...readOne(file.bytes, path)));
    }
  });
  if (read.statements.length + read.faults.length === 0)
    read.faults.push({ file: name, line: 0, text: 'The archive holds no file.' });
  return read;
}

function readOne(bytes: Uint8Array, file: string): Statement[] {
  if (bytes.length === 0) throw new StatementRefused('The file is empty.');
  if (isArchive(bytes)) throw new StatementRefused('The archive holds another archive.');
  const head = textPieces(bytes).next().value!.slice(0, HEAD_CHARACTERS);
  if (isOfx(head)) return readOfx(decodeText(bytes), file);
  if (/^\s*</.test(head)) {
    const statements = readCamt(textPieces(bytes), file);
    if (statements.length === 0)
      throw new StatementRefused('The XML holds no statement of camt.052, camt.053 or camt.054.');
    return statements;
  }
  if (isMt940(head)) return readMt940(decodeText(bytes), file);
  throw new StatementRefused(
    'The format is not known. Export the statement as CAMT.053, CAMT.052, CAMT.054, MT940, MT942 or OFX.',
  );
}
