// What everything under /admin works with.

import type { CheckpointLookup } from '../../journal/checkpoint-lookup.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Clock } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import type { Refuse } from '../../web/refused-keys.ts';

export interface AdminParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  /** What refuses tokens. */
  refuse: Refuse;
  checkoutBaseUrl: string;
  checkpoints: CheckpointLookup;
  /** Of the installation. */
  timeZone: string;
  /** Minor units by currency above which a second administrator must confirm. */
  fourEyesAbove: Readonly<Record<string, number>>;
}
