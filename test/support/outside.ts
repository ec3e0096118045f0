// Edits of a store behind the service's back, over a connection of their own, as somebody with the database's password makes them.
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import pg from 'pg';
import type { Row } from '../../src/store/database.ts';
import type { Store } from './stores.ts';

type Place = Pick<Store, 'storage' | 'database_url'>;

/** Runs a statement. A server's reads may show what was before for a tenth of a second. */
export async function editOutside({ storage, database_url }: Place, sql: string): Promise<void> {
  if (database_url === null) {
    const raw = new DatabaseSync(join(storage, 'counterfoil.sqlite'), { timeout: 60_000 });
    raw.exec(sql);
    raw.close();
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
