// The SQL about rules of the bookkeeper's own.
import type { Reader } from '../store/database.ts';
import { type KeptRule, RULES } from './kept.ts';

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
