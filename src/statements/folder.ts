// Imports what is put into a folder: a file is claimed by a rename, imported, and moved to `done` or, with the reason, to `failed`.
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_BYTES_MAXIMUM } from '#bank-statements';
import type { Journal } from '../journal/journal.ts';
import { placeDurably } from '../lib/durable-files.ts';
import { OperationalError } from '../lib/errors.ts';
import { randomId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { inSequence, Rounds } from '../lib/rounds.ts';
import { type Clock, formatTimestamp, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import type { MethodSettings } from '../payments/methods/settings.ts';
import { type Database, DatabaseError } from '../store/database.ts';
import { checkFile, doubtsOf, faultLine, importFile } from './import-file.ts';
import { readBeside } from './read-beside.ts';
import { readingOptions } from './remembered.ts';

/** The folders beside the files that wait: files that a node works on, files that were imported, and files that were not. */
export const FOLDERS = { taken: 'taken', done: 'done', failed: 'failed' } as const;

const EVERY_MS = 2 * SECOND_MS;
/** A file of another node that has stood in `taken` for so long is that of a node that ended. */
const TAKEN_MAXIMUM_MS = 10 * MINUTE_MS;
/** Files that are looked at in one turn. */
const FILES_AT_ONCE = 1000;
const UNFINISHED = /^\.|(?:\.(?:part|partial|tmp|temp|filepart|crdownload|download|swp)|~)$/i;
/** Whether a file is not whole yet: programs that copy give them such names. */
export const isUnfinished = (name: string): boolean => UNFINISHED.test(name);
/** The end of the name of the file that says why another was not imported. */
export const REASON = '.txt';
/** A claim is called `<16 random characters>-<name>`. */
const CLAIM = /^[0-9a-z]{16}-(.+)$/s;
const NAME_BYTES_MAXIMUM = 180;
const ACT = { actor: 'operator', request_id: null };

export interface FolderParts {
  folder: string;
  methods: readonly Pick<MethodSettings, 'accounts'>[];
  journal: Journal;
  database: Database;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Whether other nodes may watch the same folder: what stands in `taken` may be theirs then. */
  isShared: boolean;
}

/** Whether a failure passes: the file stays claimed and is tried again. */
const passes = (error: unknown) =>
  error instanceof DatabaseError ||
  error instanceof OperationalError ||
  (error as NodeJS.ErrnoException).syscall !== undefined;

/** One turn after the other of looking into a folder. `look` is a turn. */
export class StatementFolder {
  readonly #parts: FolderParts;
  /** Size and time of the files that waited at the turn before. A file that changes is still being written. */
  #seen = new Map<string, string>();
  /** Since when claims of others stand there, milliseconds since 1970. */
  #others = new Map<string, number>();
  /** Claims of this process. */
  readonly #own = new Set<string>();

  constructor(parts: FolderParts) {
    this.#parts = parts;
  }

  /**
   * Takes up claims that were left, then the files that did not change. Throws the system's errors, `DatabaseError`, and `Error` for
   * links.
   */
  async look(): Promise<void> {
    const { folder } = this.#parts;
    for (const name of Object.values(FOLDERS)) {
      const path = join(folder, name);
      await mkdir(path, { mode: 0o700 }).catch((error) => {
        if (error.code !== 'EEXIST') throw error;
      });
      const fault = await ownFolderFault(path);
      if (fault) throw new Error(fault);
    }
    const failures: unknown[] = [];
    const work = (claim: string) => this.#work(claim).catch((error) => void failures.push(error));
    for (const claim of await this.#leftClaims()) await work(claim);
    for (const name of await this.#still()) {
      const claim = await this.#claim(join(folder, name), name);
      if (claim !== undefined) await work(claim);
    }
    if (failures.length > 0) throw failures[0];
  }

  /** The names of files that wait and did not change since the turn before. */
  async #still(): Promise<string[]> {
    const before = this.#seen;
    this.#seen = new Map();
    const still: string[] = [];
    for (const name of await namesIn(this.#parts.folder)) {
      const found = await lstat(join(this.#parts.folder, name)).catch(ifMissing);
      if (!found || found.isDirectory() || isUnfinished(name)) continue;
      const state = `${found.ino} ${found.size} ${found.mtimeMs}`;
      if (before.get(name) === state) still.push(name);
      else this.#seen.set(name, state);
    }
    return still;
  }

  /** Claims of this process that failed for now, and those of processes that ended. */
  async #leftClaims(): Promise<string[]> {
    const { folder, isShared, clock } = this.#parts;
    const now = clock.now();
    const since = this.#others;
    this.#others = new Map();
    const left: string[] = [];
    for (const claim of await namesIn(join(folder, FOLDERS.taken))) {
      if (!CLAIM.test(claim)) continue;
      if (this.#own.has(claim)) left.push(claim);
      else if (!isShared || now - (since.get(claim) ?? now) >= TAKEN_MAXIMUM_MS) {
        const own = await this.#claim(join(folder, FOLDERS.taken, claim), CLAIM.exec(claim)![1]!);
        if (own !== undefined) left.push(own);
      } else this.#others.set(claim, since.get(claim) ?? now);
    }
    return left;
  }

  /** Takes a file, which only one process can. Returns the name of the claim; undefined if another was first. */
  async #claim(path: string, name: string): Promise<string | undefined> {
    const short = Buffer.byteLength(name) <= NAME_BYTES_MAXIMUM ? name : name.slice(-40);
    const claim = `${randomId('', 16)}-${short}`;
    try {
      await rename(path, join(this.#parts.folder, FOLDERS.taken, claim));
    } catch (error) {
      return ifMissing(error as NodeJS.ErrnoException);
    }
    this.#own.add(claim);
    return claim;
  }

  /** Imports a claimed file and moves it to where it belongs. What fails for now is thrown, and the claim stays. */
  async #work(claim: string): Promise<void> {
    const { folder, clock, log } = this.#parts;
    const path = join(folder, FOLDERS.taken, claim);
    const file = CLAIM.exec(claim)![1]!;
    const reasons = await this.#import(path, file);
    const stamp = formatTimestamp(clock.now()).slice(0, 19).replaceAll(/[-:]/g, '');
    const name = `${stamp}-${claim.slice(0, 4)}-${file}`;
    if (reasons.length === 0) {
      await rename(path, join(folder, FOLDERS.done, name));
    } else {
      log.warn({ file, reasons: reasons.length }, 'a statement file was not imported');
      placeDurably(join(folder, FOLDERS.failed, name + REASON), `${reasons.join('\n')}\n`);
      await rename(path, join(folder, FOLDERS.failed, name));
    }
    this.#own.delete(claim);
  }

  /** Imports a file. Returns why it was not; nothing if it was. */
  async #import(path: string, file: string): Promise<string[]> {
    const { methods, journal, database, log } = this.#parts;
    try {
      const bytes = await bytesOf(path);
      if (typeof bytes === 'string') return [bytes];
      const options = await readingOptions(database, methods);
      const read = await readBeside(bytes, file, options);
      const checked = checkFile(read, methods, false, options);
      const imported = await importFile(journal, checked, ACT, { despiteFaults: false, dryRun: false });
      if (!imported) return checked.faults.map(faultLine);
      const added = imported.reduce((sum, one) => sum + one.added, 0);
      const known = imported.reduce((sum, one) => sum + one.known, 0);
      const doubts = doubtsOf(checked).length;
      if (doubts > 0) log.warn({ file, added, known, doubts }, 'a statement file was imported with doubts');
      else log.info({ file, added, known }, 'a statement file was imported');
      return [];
    } catch (error) {
      if (passes(error)) throw error;
      log.warn({ err: error, file }, 'a statement file could not be read');
      return ['The file could not be read.'];
    }
  }
}

/** The bytes of a regular file of at most 64 MB; else why not, as a sentence. Never follows a link. Throws the system's errors. */
async function bytesOf(path: string): Promise<Uint8Array | string> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return 'It is a link, not a file.';
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return 'The service may not read the file.';
    throw error;
  }
  try {
    const found = await handle.stat();
    if (!found.isFile()) return 'It is not a file.';
    if (found.size > FILE_BYTES_MAXIMUM) return 'The file is larger than 64 MB.';
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/**
 * What is wrong with one of `FOLDERS`; undefined if it is a folder, or not there yet. Through a link, files that others put there would
 * be moved to a place of their choice. Throws the system's errors.
 */
export async function ownFolderFault(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(ifMissing);
  if (!found || found.isDirectory()) return undefined;
  return `${path} is ${found.isSymbolicLink() ? 'a link' : 'no folder'}: it must be a folder itself`;
}

/** The names in a folder, the first 1,000 that it gives. Throws the system's errors. */
export async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder)) {
    names.push(name);
    if (names.length === FILES_AT_ONCE) break;
  }
  return names.sort();
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Looks into the folder every 2 seconds until stopped. */
export function startFolder(parts: FolderParts): Pick<Rounds, 'stop'> {
  const folder = new StatementFolder(parts);
  const look = inSequence(() => folder.look(), parts.log, 'statement files are imported later');
  const rounds = new Rounds(look, EVERY_MS);
  rounds.start();
  return rounds;
}
