// The write-ahead log that a server left which did not stop in order: put on disk anew before the next server relies on it.
import { existsSync, fsyncSync, readSync, writeSync } from 'node:fs';
import { useFile } from '../lib/durable-files.ts';
import { Connection } from './sqlite-connection.ts';
import { asOpeningError } from './sqlite-failures.ts';

const PIECE_BYTES = 1024 * 1024;

/**
 * Writes the log of the database in `file` over itself, and syncs it. Because: after a failed sync the system takes pages that it could
 * not write for written. A start would read from memory what the disk does not hold, and append new commits, which a power cut would take
 * with it. There must be no other writer. Throws `DatabaseError`, and the system's errors.
 */
export function rewriteLog(file: string): void {
  const log = `${file}-wal`;
  if (!existsSync(file) || !existsSync(log)) return;
  try {
    const connection = new Connection(file, { readOnly: false });
    try {
      connection.raw.exec('begin immediate');
      if (existsSync(log)) writeOver(log); // SQLite takes away one that belongs to no database
    } finally {
      connection.raw.close(); // folds the log back into the database
    }
  } catch (error) {
    throw asOpeningError(error, file);
  }
}

function writeOver(file: string): void {
  useFile(file, 'r+', (descriptor) => {
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let at = 0; ; ) {
      const bytes = readSync(descriptor, piece, 0, PIECE_BYTES, at);
      if (bytes === 0) break;
      at += writeSync(descriptor, piece, 0, bytes, at);
    }
    fsyncSync(descriptor);
  });
}
