// The SQL about rules, remembered layouts of CSV files, and lines that were pasted.

import type { Transaction } from '../journal/transaction.ts';
import type { Reader } from '../store/database.ts';
import { marks } from '../store/table.ts';
import { type KeptLayout, type KeptLine, type KeptRule, LAYOUTS, LINES, RULES } from './kept.ts';

/** Rules that are read. */
const READ_MAXIMUM = 1000;

/** Rules about a name or an account, those that ended as well; an empty one is of no rule. Throws `DatabaseError`. */
export function rulesAbout(database: Reader, nameKey: string, account: string): Promise<KeptRule[]> {
  const sql = `select ${RULES.columnList} from line_rules where (name_key = ? and name_key <> '') or (other_account = ? and other_account <> '')`;
  return database.query<KeptRule>(sql, nameKey, account);
}

/** Rules that ended before a moment and still say of whom they were, at most `limit`. Throws `DatabaseError`. */
export function oldRules(database: Reader, before: number, limit: number): Promise<KeptRule[]> {
  const sql = `select ${RULES.columnList} from line_rules where state = 'ended' and updated_at < ? and (name_key <> '' or other_account <> '') limit ? + 0`;
  return database.query<KeptRule>(sql, before, limit);
}

/** The rules that count, the newest first. Throws `DatabaseError`. */
export function activeRules(database: Reader): Promise<KeptRule[]> {
  const sql = `select ${RULES.columnList} from line_rules where state = 'active' order by id desc limit ? + 0`;
  return database.query<KeptRule>(sql, READ_MAXIMUM);
}

/** Layouts that are read, the newest. Each is of one account and one kind of export. */
const LAYOUTS_MAXIMUM = 500;
const LAYOUT = LAYOUTS.columnList;

export function listLayouts(database: Reader): Promise<KeptLayout[]> {
  const sql = `select ${LAYOUT} from csv_layouts order by id desc limit ? + 0`;
  return database.query<KeptLayout>(sql, LAYOUTS_MAXIMUM);
}

export async function findLayout(
  database: Pick<Transaction, 'query'>,
  account: string,
  shape: string,
): Promise<KeptLayout | undefined> {
  const sql = `select ${LAYOUT} from csv_layouts where account = ? and shape = ?`;
  return (await database.query<KeptLayout>(sql, account, shape))[0];
}

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
