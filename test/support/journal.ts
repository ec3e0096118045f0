// The journal on a temporary store of its own, without the service around it.
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import { Journal } from '../../src/journal/journal.ts';
import { systemClock } from '../../src/lib/time.ts';
import { type Engine, temporaryStore } from './stores.ts';

export interface JournalOnStore {
  database: Database;
  journal: Journal;
  /** Closes both, and drops the store. */
  close(): Promise<void>;
}

/** Opens a fresh store, whose schema is up to date, and its journal. */
export async function startJournal(engine: Engine): Promise<JournalOnStore> {
  const store = await temporaryStore(engine);
  const database = await openDatabase(store, () => {});
  await migrate(database);
  const journal = new Journal(database, systemClock);
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
