// Edits of a store behind the service's back, over a connection of their own, as somebody with the database's password makes them.
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Database, Row } from '../../src/store/database.ts';
import type { Store } from './stores.ts';

type Place = Pick<Store, 'storage' | 'database_url'>;

const BUSY = 5;
const AGAIN_MS = 5;
/** Reads of a server in another process share a view of a SQLite store for up to 100 ms (`VIEW_MS` of `store/sqlite.ts`). */
const SEEN_AFTER_MS = 150;

/** What this process reads the stores that it serves by, by their storage. */
export const served = new Map<string, Database>();

/**
 * Runs a write of a connection without a timeout, again as long as the service is writing. A wait inside SQLite would stop the event loop
 * that a service of the same process needs to end its write.
 */
export async function betweenWrites<T>(write: () => T): Promise<T> {
  for (;;)
    try {
      return write();
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 !== BUSY) throw error;
      await delay(AGAIN_MS);
    }
}

/** Runs a statement. Once it resolves, no read of a server shows what was before. */
export async function editOutside({ storage, database_url }: Place, sql: string): Promise<void> {
  if (database_url === null) {
    const raw = new DatabaseSync(join(storage, 'counterfoil.sqlite'), { timeout: 0 });
    await betweenWrites(() => raw.exec(sql));
    raw.close();
    const database = served.get(storage);
    if (!database) return delay(SEEN_AFTER_MS);
    while (database.flushing) await database.flushing; // it holds the view that reads share
    database.refresh();
    return;
  }
  const client = new pg.Client(database_url);
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

/** Adds a row. */
export async function insertOutside(place: Place, table: string, row: Row): Promise<void> {
  const values = (Object.values(row) as SQLInputValue[]).map((value) => {
    if (value === null || typeof value === 'number') return String(value);
    return `'${String(value).replaceAll("'", "''")}'`;
  });
  await editOutside(
    place,
    `insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')})`,
  );
}
