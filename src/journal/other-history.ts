// Compares the store with the newest checkpoint of a storage directory: a store put back to an older copy contradicts it.
import type { Reader } from '../store/database.ts';
import { CheckpointLookup } from './checkpoint-lookup.ts';
import type { Checkpoint } from './checkpoint-statement.ts';
import { findSeal, newestSeal, unlessEmpty } from './queries.ts';
import type { Seal } from './seal.ts';

/** A store that does not hold the history which its newest checkpoint vouches for. */
export interface OtherHistory {
  checkpoint: Checkpoint;
  /** The newest seal of the store. Undefined if the store is empty. */
  end: Seal | undefined;
}

/**
 * Returns the newest checkpoint and the end of the store if they contradict each other. Returns undefined if they agree, or if
 * there is no checkpoint. Throws `DatabaseError` and the system's errors.
 */
export async function otherHistory(database: Reader, storage: string): Promise<OtherHistory | undefined> {
  // The checkpoint is read first: a checkpoint is signed for what the store holds already, so it is never ahead of it.
  const checkpoint = await new CheckpointLookup(storage).newest();
  if (!checkpoint) return undefined;
  const held = await unlessEmpty(findSeal(database, checkpoint.seal));
  if (held?.hash === checkpoint.hash) return undefined;
  return { checkpoint, end: await unlessEmpty(newestSeal(database)) };
}
