// The checkpoints of the storage directory, read again only when there are more: each costs a signature to check.
import { statSync } from 'node:fs';
import { checkpointFiles, readCheckpoints } from '../journal/checkpoint.ts';
import type { Checkpoint } from '../journal/checkpoint-statement.ts';

const READ = new Map<string, { bytes: number; checkpoints: readonly Checkpoint[] }>();

/** The checkpoints in `storage` whose signatures are right, oldest first. */
export function knownCheckpoints(storage: string): readonly Checkpoint[] {
  const bytes = statSync(checkpointFiles(storage).file, { throwIfNoEntry: false })?.size ?? 0;
  const known = READ.get(storage);
  if (known?.bytes === bytes) return known.checkpoints;
  const { checkpoints } = readCheckpoints(storage);
  READ.set(storage, { bytes, checkpoints });
  return checkpoints;
}
