// The SQL about rules of the bookkeeper's own.
import type { Reader } from '../store/database.ts';
import { type KeptRule, RULES } from './kept.ts';

/** Rules that are read. */
const READ_MAXIMUM = 1000;

/** The rules that count, the newest first. Throws `DatabaseError`. */
export function activeRules(database: Reader): Promise<KeptRule[]> {
  const sql = `select ${RULES.columnList} from line_rules where state = 'active' order by id desc limit ? + 0`;
  return database.query<KeptRule>(sql, READ_MAXIMUM);
}
