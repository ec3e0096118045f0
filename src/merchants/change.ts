// Changes of merchants and keys, done again where others changed the same row at the same moment.

import type { Journal } from '../journal/journal.ts';
import type { Work } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { DatabaseError } from '../store/database.ts';

/** Maximum attempts of a change. Each failed attempt lost to another change. */
const ATTEMPTS = 4;

/** Thrown by a work that found the row it had read changed by the time it wrote. */
export class ChangedMeanwhile extends Error {}

/**
 * Commits `work` under the name of `row`. Where another node changed the row after it was read, or wrote its first version, the work is
 * run again, three times at most: it judges what it finds then, so that a change that still makes sense is never lost to another.
 * Throws `conflict` after that, and what the work and the journal raise.
 */
export async function commitChange<T>(journal: Journal, row: string, work: Work<T>): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      return await journal.commit(work, row);
    } catch (error) {
      if (!isLostRace(error)) throw error;
    }
  }
  throw new OperationalError('conflict', 'Others changed the same at the same moment. Try again.');
}

const isLostRace = (error: unknown) =>
  error instanceof ChangedMeanwhile || (error instanceof DatabaseError && error.failure === 'conflict');
