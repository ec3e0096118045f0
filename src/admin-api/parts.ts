// What everything under /admin works with.
import type { Database } from '../database/database.ts';
import type { CheckpointReader } from '../journal/checkpoint-reader.ts';
import type { Journal } from '../journal/journal.ts';
import type { Clock } from '../lib/time.ts';

export interface AdminParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  checkoutBaseUrl: string;
  checkpoints: CheckpointReader;
  /** Minor units by currency above which a second administrator must confirm. */
  fourEyesAbove: Readonly<Record<string, number>>;
}
