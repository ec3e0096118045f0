// A store that is being moved into is none yet: a table of the move's own says so, and goes with the move's last transaction.
import type { Database, Reader } from './database.ts';

/** It is there for as long as a move is unfinished. One row: the state of the source that is being moved. */
export const MOVE_TABLE = 'unfinished_move';

/** A move into this store was begun and has not ended: what stands there is part of a store. */
export class MoveUnfinished extends Error {
  override readonly name = 'MoveUnfinished';
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

/** Throws `MoveUnfinished` where a move into a database has not ended, and `DatabaseError`. */
export async function refuseUnfinishedMove(view: Reader, engine: Database['engine']): Promise<void> {
  if ((await tablesAmong(view, engine, [MOVE_TABLE])).length === 0) return;
  throw new MoveUnfinished(
    'a move into this store is unfinished: run the same counterfoil move again, which goes on where it was',
  );
}
