// Saves a SQLite database whose files were removed, moved or replaced, out of the process that still has them open (Linux).
import { existsSync, readdirSync, readlinkSync, readSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { copyDurably, useFile } from '../lib/durable-files.ts';
import { tried } from '../lib/tried.ts';
import { Connection, identityOf } from './sqlite-connection.ts';

/** How a database and its write-ahead log begin (https://sqlite.org/fileformat2.html). */
const DATABASE_MAGIC = 'SQLite format 3\0';
const LOG_MAGIC = 0x377f0682;
const COPIES_MAXIMUM = 10;

/** A server that holds a storage directory. */
export interface Holder {
  pid: number;
  /** Whether it has the files open that are at their paths. */
  isInPlace: boolean;
}

/** What a process has open of a database. The paths lead to the open files, whatever their names are by now. */
interface OpenFiles {
  database: string;
  /** Undefined if the log is empty. */
  log: string | undefined;
}

/**
 * The server that holds `lock` and has a database open for `file`. Undefined if there is none, if this account may not look, or if the
 * system does not tell (it has no /proc). Opens nothing of this process: to close a file again drops each lock that SQLite has on it
 * (fcntl(2); https://sqlite.org/howtocorrupt.html, section 2.2), and the next process would empty the index that this one reads.
 */
export function holderOf(lock: string, file: string): Holder | undefined {
  const name = realName(lock);
  for (const pid of namesIn('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)) {
    const open = descriptorsOf(pid);
    if (!open.some((path) => [name, `${name} (deleted)`].includes(targetOf(path) ?? ''))) continue;
    const identities = new Set(open.map(identityOf));
    const isOpen = (path: string) => existsSync(path) && identities.has(identityOf(path));
    const log = `${file}-wal`;
    const hasNoLog = !existsSync(log) && !open.some(isNamedAs(log));
    const isInPlace = isOpen(file) && (hasNoLog || isOpen(log));
    const hasIt = pid === process.pid ? open.some(isNamedAs(file)) : openFilesOf(pid, file) !== undefined;
    if (hasIt) return { pid, isInPlace };
  }
  return undefined;
}

/** What another process has open of the database that was made at `file`; undefined if it has none. */
export function openFilesOf(pid: number, file: string): OpenFiles | undefined {
  const open = descriptorsOf(pid);
  const database = likeliest(open, file, (begin) => begin.toString('latin1') === DATABASE_MAGIC);
  if (database === undefined) return undefined;
  // The last bit tells the order of the bytes of its checksums.
  const log = likeliest(open, `${file}-wal`, (begin) => (begin.readUInt32BE() & ~1) === LOG_MAGIC);
  return { database, log };
}

/** Whether an open file has the name of another, or had it before it was removed or moved to another folder. */
const isNamedAs = (file: string) => (path: string) => targetOf(path)?.includes(basename(file)) === true;

function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return namesIn(folder).map((descriptor) => join(folder, descriptor));
}

/** Of open files that begin as they should: the one at `place`, the one that was removed from there, or any, which was moved away. */
function likeliest(
  open: readonly string[],
  place: string,
  isOne: (begin: Buffer) => boolean,
): string | undefined {
  const found = open.filter((path) => {
    const begin = beginOf(path);
    return begin !== undefined && isOne(begin);
  });
  return (
    found.find((path) => identityOf(path) === identityOf(place)) ??
    found.find((path) => targetOf(path) === `${realName(place)} (deleted)`) ??
    found[0]
  );
}

/**
 * Writes what a process has open into `to`, which must not be there: one file, for its owner alone, on the disk. Returns how many payments
 * it holds. Throws the errors of the system and of SQLite.
 */
export async function rescue({ database, log }: OpenFiles, to: string): Promise<{ payments: number }> {
  const stamp = () => [database, log].map((path) => path && changeOf(path)).join();
  for (let copies = 1; ; copies++) {
    const before = stamp();
    await copyDurably(database, to);
    if (log !== undefined) await copyDurably(log, `${to}-wal`);
    if (stamp() === before) break;
    if (copies === COPIES_MAXIMUM) throw new Error('the files keep changing');
    for (const suffix of ['', '-wal']) rmSync(to + suffix, { force: true });
  }
  const copy = new Connection(to, { readOnly: false });
  try {
    const [found] = copy.all<{ integrity_check: string }>('pragma integrity_check(1)', []);
    if (found?.integrity_check !== 'ok')
      throw new Error(`what was saved is damaged: ${found?.integrity_check}`);
    copy.all('pragma wal_checkpoint(truncate)', []);
    return { payments: copy.all<{ count: number }>('select count(*) as count from payments', [])[0]!.count };
  } finally {
    copy.raw.close();
  }
}

/** When a file last changed, and its size. */
function changeOf(path: string): string {
  const { size, mtimeNs } = statSync(path, { bigint: true });
  return `${size}:${mtimeNs}`;
}

/** The path of a file with no link in it, also where the file itself is gone. */
const realName = (path: string): string =>
  tried(() => join(realpathSync(dirname(path)), basename(path)), path);

/** None of a process that has ended, or is another account's. */
const namesIn = (folder: string): string[] => tried(() => readdirSync(folder), []);

const targetOf = (path: string): string | undefined => tried(() => readlinkSync(path));

/** The first 16 bytes of a file; undefined if it has fewer, is no file, or cannot be read. */
const beginOf = (path: string): Buffer | undefined =>
  tried(() => {
    if (!statSync(path).isFile()) return undefined;
    const begin = Buffer.alloc(DATABASE_MAGIC.length);
    const read = useFile(path, 'r', (descriptor) => readSync(descriptor, begin, 0, begin.length, 0));
    return read === begin.length ? begin : undefined;
  });
