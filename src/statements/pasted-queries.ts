// The SQL about lines that were pasted, and lines that a statement of the bank shows.
import type { Reader } from '../store/database.ts';
import { marks } from '../store/table.ts';
import { type KeptLine, LINES } from './kept.ts';

/** What stands in place of a file's name for those of these lines that were pasted, by their ids. */
export async function pastedLines(
  database: Reader,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await database.query<{ id: string; file: string }>(
    `select statement_lines.id as id, file from statement_lines join statements on statements.id = statement_id
     where format = 'pasted' and statement_lines.id in (${marks(ids)})`,
    ...ids,
  );
  return new Map(rows.map(({ id, file }) => [id, file]));
}

/** The lines of an account from one day to another that were pasted, or those that stand in statements. */
export function linesBetween(
  database: Reader,
  account: string,
  which: 'pasted' | 'stated',
  [from, to]: readonly [from: string, to: string],
): Promise<KeptLine[]> {
  return database.query<KeptLine>(
    `select ${LINES.columnList} from statement_lines where account = ? and day >= ? and day <= ?
     and statement_id ${which === 'pasted' ? 'in' : 'not in'} (select id from statements where account = ? and format = 'pasted')
     order by day, id`,
    account,
    from,
    to,
    account,
  );
}
