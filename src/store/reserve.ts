// Room on the disk that is kept for the opening of the store: on a full disk a start gives it back, and serves what can be read.

import { randomBytes } from 'node:crypto';
import { existsSync, fsyncSync, ftruncateSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { useFile } from '../lib/durable-files.ts';
import { DatabaseError } from './database.ts';
import { NO_ROOM_FOR_INDEX } from './sqlite-failures.ts';

/** The index of the write-ahead log takes 32 KiB, and more where a crash left a long log. */
const RESERVE_BYTES = 256 * 1024;
const PIECE_BYTES = 4096;
const FULL = 13;

const reserveOf = (storage: string) => join(storage, 'reserve');

/** Fills the reserve as far as there is room. Throws the system's errors, but for a disk that is full. */
export function keepReserve(storage: string): void {
  const file = reserveOf(storage);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= RESERVE_BYTES) return;
  try {
    useFile(file, 'a', (descriptor) => {
      // In pieces, so that a disk that is nearly full takes some of them.
      for (let kept = size; kept < RESERVE_BYTES; kept += PIECE_BYTES)
        writeSync(descriptor, randomBytes(PIECE_BYTES)); // random: a file system that compresses keeps as much room
    });
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code!)) throw error;
  }
}

/** What `open` returns. Where the disk has no room for it, it is called again with the room of the reserve. Throws what `open` does. */
export function withReserve<T>(storage: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!isForRoom(error) || !existsSync(reserveOf(storage))) throw error;
    giveBack(reserveOf(storage));
    const opened = open();
    keepReserve(storage);
    return opened;
  }
}

/** Empties a file, and waits until others can have its room: ext4 gives it to them with the next commit of its journal. */
function giveBack(file: string): void {
  useFile(file, 'r+', (descriptor) => {
    ftruncateSync(descriptor);
    fsyncSync(descriptor);
  });
}

function isForRoom(error: unknown): boolean {
  const { errcode } = (error instanceof DatabaseError ? error.cause : error) as { errcode?: number };
  return errcode === FULL || errcode === NO_ROOM_FOR_INDEX;
}
