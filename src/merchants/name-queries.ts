// The SQL about the names of merchants that were made a moment ago.
import type { Reader } from '../database/database.ts';

/** The names of the merchants that were made after `since`, in milliseconds since 1970. */
export async function namesSince(database: Reader, since: number): Promise<string[]> {
  const sql = 'select name from merchants where created_at > ? and name is not null';
  return (await database.query<{ name: string }>(sql, since)).map(({ name }) => name);
}
