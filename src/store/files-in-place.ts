// Tells whether the files that SQLite has open are still the ones at their paths: SQLite commits to a removed file without an error.
import { type BigIntStats, statSync } from 'node:fs';
import { basename } from 'node:path';

/** A database in the write-ahead log's mode, as what follows its path. None is made anew while a connection is open. */
const FILES = ['', '-wal', '-shm'] as const;

/** What a file is, whatever its name: device and inode. Undefined if there is none. */
export function identityOf(path: string): string | undefined {
  const stats: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

export class FilesInPlace {
  readonly #file: string;
  readonly #opened: readonly (readonly [path: string, identity: string | undefined])[];

  /** `file`: a database that this process has just opened and read. */
  constructor(file: string) {
    this.#file = file;
    this.#opened = FILES.map((suffix) => [file + suffix, identityOf(file + suffix)]);
  }

  /** What has become of a file that is open, as a clause. Undefined if all are in place. */
  fault(): string | undefined {
    for (const [path, opened] of this.#opened) {
      const now = identityOf(path);
      if (now !== opened)
        return `${path} is ${now === undefined ? 'gone' : 'another file'}, while this process has ${basename(this.#file)} open`;
    }
    return undefined;
  }
}
