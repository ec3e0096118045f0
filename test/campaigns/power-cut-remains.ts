// What is left on a disk after a power cut, laid down in a folder for a start to find.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SeededRandom } from '../support/seeded-random.ts';
import { storageIn } from './power-cut-run.ts';
import { databaseIn } from './recovery.ts';

/** How often what is left of the shared memory is of no use; else there is none. */
const STALE_MEMORY = 0.3;
const MEMORY = randomBytes(32 * 1024);

/** Writes `files` into `folder` in place of all that was there. Returns the store's part of it. */
export function layDown(files: Map<string, Buffer>, folder: string, random: SeededRandom): string {
  const storage = storageIn(folder);
  rmSync(folder, { recursive: true, force: true });
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, path), bytes, { mode: 0o600 });
  }
  if (files.size > 0 && random.chance(STALE_MEMORY))
    writeFileSync(`${databaseIn(storage)}-shm`, MEMORY, { mode: 0o600 });
  return storage;
}
