// The keys without which no server starts on a backup: a backup holds none of them, so a restore says which it needs.
import { privateKeyName } from '../journal/checkpoint.ts';
import type { BackupList } from './backup-folder.ts';

/** A key by its id, and whether the storage has it. */
export interface NeededKey {
  name: 'checkpoint key';
  /** The first 16 hexadecimal digits of the SHA-256 of the public key. */
  id: string;
  is_there: boolean;
}

/** The keys that a backup needs in `storage`. Empty for a backup that holds its keys itself. */
export function neededKeys({ keys }: BackupList, storage: string): NeededKey[] {
  const id = keys?.checkpoint ?? null;
  return id === null ? [] : [{ name: 'checkpoint key', id, is_there: privateKeyName(storage) === id }];
}
