// Makes an index of a SQLite file lie, as somebody with write access to the file would: the rows stay as they are.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Where the b-tree of an index lies in the file, which must be one page: its offset and size in bytes. */
function pageOf(file: string, index: string): { offset: number; size: number } {
  const database = new DatabaseSync(file);
  try {
    database.exec('pragma wal_checkpoint(truncate)');
    const { rootpage } = database.prepare('select rootpage from sqlite_schema where name = ?').get(index) as {
      rootpage: number;
    };
    const { page_size: size } = database.prepare('pragma page_size').get() as { page_size: number };
    return { offset: (rootpage - 1) * size, size };
  } finally {
    database.close();
  }
}

function changePage(file: string, index: string, change: (page: Buffer) => void): void {
  const { offset, size } = pageOf(file, index);
  const descriptor = openSync(file, 'r+');
  try {
    const page = Buffer.alloc(size);
    readSync(descriptor, page, 0, size, offset);
    change(page);
    writeSync(descriptor, page, 0, size, offset);
  } finally {
    closeSync(descriptor);
  }
}

/** Puts `other` in the place of a key of an index. Both have the same length. Nobody else has the file open. */
export function replaceInIndex(file: string, index: string, key: string, other: string): void {
  changePage(file, index, (page) => {
    const at = page.indexOf(key);
    if (at === -1 || key.length !== other.length) throw new Error(`${index} has no such key in its page`);
    page.write(other, at, 'latin1');
  });
}

/** Takes the last entry out of an index. Nobody else has the file open. */
export function cutFromIndex(file: string, index: string): void {
  changePage(file, index, (page) => page.writeUInt16BE(page.readUInt16BE(3) - 1, 3)); // how many cells a leaf has
}
