// Writes files and folders that are on the disk before they are used, and compares files.
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Read at once: large enough for a disk, small enough for memory. */
const PIECE_BYTES = 1024 * 1024;

/** What tells a file from any other: its length and the SHA-256 of its bytes, in hexadecimal. */
export interface FileDigest {
  bytes: number;
  sha256: string;
}

/** The digest of `file`. Calls `onBytes` with each piece. Throws the system's errors. */
export async function digestFile(
  file: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<FileDigest> {
  return digest(file, async (piece) => onBytes(piece.length));
}

/**
 * Copies `from` to `to`, which must not be there, for its owner alone, and answers when the bytes are on the disk. Their folder is
 * not: `sync`. Returns the digest of what was copied. Throws the system's errors.
 */
export async function copyDurably(
  from: string,
  to: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<FileDigest> {
  return withFile(to, 'wx', async (copy) => {
    const copied = await digest(from, async (piece) => {
      await copy.writeFile(piece);
      onBytes(piece.length);
    });
    await copy.sync();
    return copied;
  });
}

/** Writes a file to the disk for its owner alone. It must not be there, unless `flags` is `w`. Throws the system's errors. */
export async function writeDurably(file: string, text: string, flags: 'wx' | 'w' = 'wx'): Promise<void> {
  await withFile(file, flags, async (handle) => {
    await handle.writeFile(text);
    await handle.sync();
  });
}

/** Puts a whole file in place, or none: a crash leaves no half of it. Throws the system's errors. */
export function placeDurably(file: string, content: string | Buffer): void {
  const unfinished = `${file}.new`;
  useFile(unfinished, 'w', (descriptor) => {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  });
  renameSync(unfinished, file);
  syncNow(dirname(file));
}

/** Answers when a file's bytes, or the names in a folder, are on the disk. Throws the system's errors. */
export async function sync(path: string): Promise<void> {
  await withFile(path, 'r', (handle) => handle.sync());
}

/** The same, synchronously. Throws the system's errors. */
export function syncNow(path: string): void {
  useFile(path, 'r', fsyncSync);
}

/** Lends a file synchronously. A new file is readable by its owner alone. Throws the system's errors. */
export function useFile<T>(file: string, flags: string, use: (descriptor: number) => T): T {
  const descriptor = openSync(file, flags, 0o600);
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

async function digest(file: string, take: (piece: Buffer) => Promise<void>): Promise<FileDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) {
    hash.update(piece);
    await take(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function withFile<T>(file: string, flags: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, flags, 0o600);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}
