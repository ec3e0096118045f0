// Holds a store to what is known of its history beside it: a store put back to an older copy contradicts that.
import { formatTimestamp } from '../lib/time.ts';
import type { Reader } from '../store/database.ts';
import type { Seal } from './audit-entry.ts';
import { CheckpointLookup } from './checkpoint-lookup.ts';
import { knownSeal } from './known-seal.ts';
import { findSeal, newestSeal, unlessEmpty } from './queries.ts';

/** A seal that stood: signed as a checkpoint, or known to the node until its end. `at`: ISO 8601. */
export interface Vouched extends Pick<Seal, 'number' | 'last_entry' | 'hash'> {
  at: string;
  isSigned: boolean;
}

/** A store that does not hold the history which is vouched for. */
export interface OtherHistory {
  vouched: Vouched;
  /** The newest seal of the store. Undefined if the store is empty. */
  end: Seal | undefined;
}

/** The newest checkpoint of a storage directory, and the newest seal that its node knew, the newer first. Throws the system's errors. */
export async function vouchedIn(storage: string): Promise<Vouched[]> {
  const known = knownSeal(storage);
  const checkpoint = await new CheckpointLookup(storage).newest();
  const all: Vouched[] = [];
  if (checkpoint) {
    const { seal: number, last_entry, hash, signed_at: at } = checkpoint;
    all.push({ number, last_entry, hash, at, isSigned: true });
  }
  if (known) all.push({ ...known, at: formatTimestamp(known.at), isSigned: false });
  return all.sort((one, other) => other.number - one.number);
}

/**
 * Returns what is vouched for and the end of the store if they contradict each other. Returns undefined if they agree, or if nothing is
 * vouched for. Throws `DatabaseError` and the system's errors.
 */
export async function otherHistory(database: Reader, storage: string): Promise<OtherHistory | undefined> {
  // Read first: both are written for what the store holds already, so they are never ahead of it.
  for (const vouched of await vouchedIn(storage)) {
    const held = await unlessEmpty(findSeal(database, vouched.number));
    if (held?.hash !== vouched.hash) return { vouched, end: await unlessEmpty(newestSeal(database)) };
  }
  return undefined;
}
