// What everything under /admin works with.
import type { Database } from '../database/database.ts';
import type { Refuse } from '../http/refused-keys.ts';
import type { CheckpointLookup } from '../journal/checkpoint-lookup.ts';
import type { Journal } from '../journal/journal.ts';
import type { Clock } from '../lib/time.ts';
import type { Offer } from '../methods/offer.ts';

export interface AdminParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  /** What refuses tokens. */
  refuse: Refuse;
  /** The ways to pay, which name the accounts that statements are of. */
  offer: Offer;
  checkoutBaseUrl: string;
  checkpoints: CheckpointLookup;
  /** Minor units by currency above which a second administrator must confirm. */
  fourEyesAbove: Readonly<Record<string, number>>;
}
