// Whether the disk that a store lies on has room for the next commit, found out without writing.
import { statfs } from 'node:fs/promises';
import type { StoreSettings } from './open.ts';

/** What the largest batch takes where each of its 256 works changes four pages that no other one does. */
const COMMIT_BYTES = 256 * 4 * 4096;

/**
 * True as well where the disk is another machine's: PostgreSQL says itself, with the next commit, that its own is full. Throws the
 * system's errors.
 */
export async function hasRoom({ storage, database_url }: StoreSettings): Promise<boolean> {
  return database_url !== null || (await freeBytes(storage)) >= COMMIT_BYTES;
}

/** What this account may still write where `storage` lies. Throws the system's errors. */
export async function freeBytes(storage: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(storage);
  // Some file systems keep the last of their room for root.
  return (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
}
