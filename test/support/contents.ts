// Everything that a store holds, read without the program's own list of tables: for telling whether two stores hold the same.
import type { Database } from '../../src/store/database.ts';
import type { StoreSettings } from '../../src/store/open.ts';
import { openPatiently } from './stores.ts';

/** The tables that a database has. */
export async function tablesOf(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    database.engine === 'sqlite'
      ? "select name from sqlite_schema where type = 'table'"
      : "select tablename as name from pg_tables where schemaname = 'public'",
  );
  return rows.map(({ name }) => name).sort();
}

/** Every row of every table as JSON, in an order of the text's own. */
export async function contentsOf(settings: StoreSettings): Promise<Record<string, string[]>> {
  const database = await openPatiently(settings);
  try {
    const contents: Record<string, string[]> = {};
    for (const table of await tablesOf(database)) {
      const rows = await database.query(`select * from ${table}`);
      contents[table] = rows.map((row) => JSON.stringify(row)).sort();
    }
    return contents;
  } finally {
    await database.close();
  }
}
