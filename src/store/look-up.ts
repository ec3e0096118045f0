// Looks up credentials: rows whose own columns hold the value, including rows that a command wrote a moment ago.
import type { Database, Reader } from './database.ts';

/**
 * Returns those of `rows` whose own columns hold the values of `looked`. Every credential (token, key, session, passkey, link) is looked
 * up by this function. Because: an attacker who can write to the database's files can change an index and leave the rows unchanged.
 * `rows` must have those columns. SQLite reads a column from the index that it searches, so the statement looks up the id by the index,
 * and the row by its id.
 */
export function heldRows<R extends object>(rows: readonly R[], looked: Partial<NoInfer<R>>): R[] {
  const names = Object.keys(looked) as (keyof R)[];
  return rows.filter((row) => names.every((name) => row[name] === looked[name]));
}

/** A store outside a transaction, or a transaction, which sees the present state anyway. */
export type Seen = Reader & Partial<Pick<Database, 'refresh'>>;

/** Returns what `find` finds; where that is undefined, what it finds in the state that the store has now. Throws what `find` does. */
export async function findNow<R>(
  database: Seen,
  find: (database: Seen) => Promise<R | undefined>,
): Promise<R | undefined> {
  const found = await find(database);
  if (found !== undefined || !database.refresh) return found;
  database.refresh();
  return find(database);
}
