// Keeps a second server off a store, by a lock that the operating system drops when the process ends.
import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { DatabaseError, StoreUnfit } from './database.ts';
import { asDatabaseError, isBusy, isNoDatabase } from './sqlite-failures.ts';

/**
 * Holds a store for one server: an exclusive lock on `file` that the operating system drops when the process ends, however
 * it ends. Throws `DatabaseError` (`unavailable`) when another process holds it, and `StoreUnfit` if the file is damaged. Returns the
 * release.
 */
export function lockStore(file: string): () => void {
  try {
    const lock = new DatabaseSync(file, { timeout: 0 });
    chmodSync(file, 0o600);
    // A rollback journal would need room on the disk.
    lock.exec('pragma locking_mode = exclusive; pragma journal_mode = memory; begin exclusive');
    return () => lock.close();
  } catch (error) {
    if (isBusy(error))
      throw new DatabaseError('unavailable', `another server holds the store (${file}): stop it first`);
    if (isNoDatabase(error))
      throw new StoreUnfit(`${file} is damaged. It holds nothing but the lock: remove it, and start again`);
    throw asDatabaseError(error);
  }
}
