// The journal on a temporary store of its own, without the service around it; and any journal, held up.
import { setTimeout as pause } from 'node:timers/promises';
import { Journal } from '../../src/journal/journal.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import { type Clock, systemClock } from '../../src/lib/time.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Engine, openPatiently, temporaryStore } from './stores.ts';
import { LONGER_THAN_A_TEST_MS } from './waiting.ts';

export interface JournalOnStore {
  database: Database;
  journal: Journal;
  /** Closes both, and drops the store. */
  close(): Promise<void>;
}

/** A journal whose works have all the time that a test has, however slow the machine is. */
export const unhurried = (
  database: Database,
  clock: Clock = systemClock,
  options: ConstructorParameters<typeof Journal>[2] = {},
) => new Journal(database, clock, { answerMs: LONGER_THAN_A_TEST_MS, ...options });

/** Opens a fresh store, whose schema is up to date, and its journal. */
export async function startJournal(engine: Engine): Promise<JournalOnStore> {
  const store = await temporaryStore(engine);
  const database = await openPatiently(store);
  await migrate(database);
  const journal = unhurried(database);
  return {
    database,
    journal,
    async close() {
      await journal.close();
      await database.close();
      await store.drop();
    },
  };
}

/** Answers once a journal is next given something to do. */
export function handedIn(journal: Journal): Promise<void> {
  const { commit } = journal;
  return new Promise((resolve) => {
    journal.commit = (work, row) => {
      journal.commit = commit;
      resolve();
      return journal.commit(work, row);
    };
  });
}

/** Keeps a journal from committing, once it has come to a work that changes `row`, until `go`. */
export async function heldUp(journal: Journal, row = ''): Promise<{ go(): void }> {
  let isHeld = true;
  const begun = Promise.withResolvers<void>();
  const work = async (transaction: Transaction) => {
    begun.resolve();
    // PostgreSQL ends a transaction of which it hears nothing for 3 s.
    for (; isHeld; await pause(20)) await transaction.query('select 1');
  };
  journal.commit(work, row).catch(begun.reject);
  await begun.promise;
  return { go: () => (isHeld = false) };
}
