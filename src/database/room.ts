// Whether the disk that a store lies on has room for the next commit, found out without writing.
import { statfs } from 'node:fs/promises';
import type { StoreSettings } from './open.ts';

/** What the largest batch takes where each of its 256 works changes four pages that no other one does. */
const COMMIT_BYTES = 256 * 4 * 4096;

/**
 * True as well where the disk is another machine's: PostgreSQL says itself, with the next commit, that its own is full. Raises the
 * system's errors.
 */
export async function hasRoom({ storage, database_url }: StoreSettings): Promise<boolean> {
  if (database_url !== null) return true;
  const { bavail, bfree, bsize } = await statfs(storage);
  // Some file systems keep the last of their room for root.
  const free = process.geteuid?.() === 0 ? bfree : bavail;
  return free * bsize >= COMMIT_BYTES;
}
