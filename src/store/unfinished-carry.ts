// A database that rows are being carried into is no store yet: a table says so, and goes with the last transaction.
import type { Database, Reader } from './database.ts';

/** It is there for as long as a move or a restore is unfinished. */
export const UNFINISHED_TABLE = 'unfinished_move';

/** A move or a restore into this store was begun and has not ended: what stands there is part of a store. */
export class CarryUnfinished extends Error {
  override readonly name = 'CarryUnfinished';
}

/** Those of `names` that are tables, or views, of a database. Throws `DatabaseError`. */
export async function tablesAmong(
  view: Reader,
  engine: Database['engine'],
  names: readonly string[],
): Promise<string[]> {
  const sql =
    engine === 'sqlite'
      ? `select name from sqlite_schema where type in ('table', 'view') and instr(',' || ? || ',', ',' || name || ',') > 0`
      : `select told.name from unnest(string_to_array(?::text, ',')) as told (name) where to_regclass(told.name) is not null`;
  return (await view.query<{ name: string }>(sql, names.join(','))).map(({ name }) => name);
}

/** Throws `CarryUnfinished` where a move or a restore into a database has not ended, and `DatabaseError`. */
export async function refuseUnfinishedCarry(view: Reader, engine: Database['engine']): Promise<void> {
  if ((await tablesAmong(view, engine, [UNFINISHED_TABLE])).length === 0) return;
  throw new CarryUnfinished(
    'a move or a restore into this database is unfinished: run the same command again, which begins anew',
  );
}
