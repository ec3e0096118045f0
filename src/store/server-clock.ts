// What time the database's own machine has, where that is another one.
import type { Database } from './database.ts';

/** Milliseconds since 1970 by PostgreSQL's clock; nothing on SQLite, which is of this machine. Throws `DatabaseError`. */
export async function serverClock(database: Database): Promise<number | undefined> {
  if (database.engine === 'sqlite') return undefined;
  const rows = await database.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now',
  );
  return rows[0]!.now;
}
