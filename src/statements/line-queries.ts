// The SQL about statements, their lines, rules about those, and remembered layouts of CSV files.

import { hasThousandths } from '#bank-statements';
import { sumMinor } from '../payments/payment.ts';
import type { Reader, Value } from '../store/database.ts';
import { marks, rowsWithIds, rowWithId } from '../store/table.ts';
import {
  exactMinor,
  type KeptLayout,
  type KeptLine,
  type KeptRule,
  type KeptStatement,
  LAYOUTS,
  LINES,
  type LineState,
  RULES,
  STATEMENTS,
} from './kept.ts';

const STATEMENT = STATEMENTS.columnList;
const LINE = LINES.columnList;
/** Values that one statement names. */
const AT_ONCE = 500;
const RANGES_AT_ONCE = 100;

export async function findStatementByDigest(
  database: Reader,
  digest: string,
): Promise<KeptStatement | undefined> {
  const sql = `select ${STATEMENT} from statements where digest = ?`;
  return (await database.query<KeptStatement>(sql, digest))[0];
}

export const findStatement = (database: Reader, id: string) => rowWithId(database, STATEMENTS, id);

/** What `query` finds for values, each once, of which one statement names at most `AT_ONCE`. */
async function inParts<T>(
  values: readonly string[],
  query: (some: readonly string[]) => Promise<T[]>,
  atOnce = AT_ONCE,
): Promise<T[]> {
  const [found, asked]: [T[], string[]] = [[], [...new Set(values)]];
  for (let i = 0; i < asked.length; i += atOnce) found.push(...(await query(asked.slice(i, i + atOnce))));
  return found;
}

/** Those of some ids whose statements stand. */
export async function thoseThatStand(database: Reader, ids: readonly string[]): Promise<string[]> {
  const found = await inParts(ids, (some) => rowsWithIds(database, STATEMENTS, some));
  return found.map(({ id }) => id);
}

/** Lines arrive before their statement does, and are seen with it. */
const STANDS = 'exists (select 1 from statements where statements.id = statement_lines.statement_id)';

/** Statements, the newest first: of an account or of all, those before the id `before`. */
export function listStatements(
  database: Reader,
  account: string | undefined,
  before: string | undefined,
  limit: number,
): Promise<KeptStatement[]> {
  return database.query<KeptStatement>(
    `select ${STATEMENT} from statements where ${account === undefined ? '' : 'account = ? and '}id < ? order by id desc limit ? + 0`,
    ...(account === undefined ? [] : [account]),
    before ?? '~',
    limit,
  );
}

/** The lines of an account with these fingerprints. */
export function linesByFingerprint(
  database: Reader,
  account: string,
  fingerprints: readonly string[],
): Promise<KeptLine[]> {
  return linesWhere(database, account, 'fingerprint', fingerprints);
}

/** The lines of an account whose fingerprints hold these digests, which a bank's reference does not tell apart. */
export function linesAlike(
  database: Reader,
  account: string,
  digests: readonly string[],
): Promise<KeptLine[]> {
  // An index serves each part of the union.
  const one = 'select id from statement_lines where account = ? and fingerprint >= ? and fingerprint < ?';
  const query = (some: readonly string[]) =>
    database.query<KeptLine>(
      `select ${LINE} from statement_lines where id in (${some.map(() => one).join(' union all ')})`,
      ...some.flatMap((digest) => [account, `${digest}:`, `${digest};`]),
    );
  return inParts(digests, query, RANGES_AT_ONCE);
}

/** The lines of an account whose entries have these references of the bank. */
export function linesByEntry(
  database: Reader,
  account: string,
  references: readonly string[],
): Promise<KeptLine[]> {
  return linesWhere(database, account, 'entry_reference', references);
}

/** Of these lines one of each amount, day, state and statement, since an entry may have 20,000 transactions. */
export function entriesAsShown(
  database: Reader,
  account: string,
  references: readonly string[],
): Promise<KeptLine[]> {
  const shown = `entry_reference, direction, day, state, statement_id, part_of_minor,
    case when part_of_minor is null then amount_minor end`;
  const one = (lines: string) =>
    `id in (select min(id) from statement_lines where ${lines} group by ${shown})`;
  return linesWhere(database, account, 'entry_reference', references, one);
}

function linesWhere(
  database: Reader,
  account: string,
  column: 'fingerprint' | 'entry_reference',
  values: readonly string[],
  among = (lines: string) => lines,
): Promise<KeptLine[]> {
  return inParts(values, (some) => {
    const lines = among(`account = ? and ${column} in (${marks(some)})`);
    return database.query<KeptLine>(`select ${LINE} from statement_lines where ${lines}`, account, ...some);
  });
}

/** The lines that a statement brought first, in the order of the file. */
export function linesOfStatement(
  database: Reader,
  { id, account }: Pick<KeptStatement, 'id' | 'account'>,
): Promise<KeptLine[]> {
  const sql = `select ${LINE} from statement_lines where account = ? and statement_id = ? order by id`;
  return database.query<KeptLine>(sql, account, id);
}

/** Those of some statements of whose first lines one is not open. Parts of a line that is whole again do not count. */
export async function statementsDecided(database: Reader, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const one = `select statement_id from (
       select statement_id, state, fingerprint from statement_lines where statement_id = ? order by day, id limit ${LOOKED_AT}
     ) as looked where state <> 'open' and not (state = 'replaced' and fingerprint like '%/%')`;
  const sql = ids.map(() => one).join(' union ');
  const rows = await database.query<{ statement_id: string }>(sql, ...ids);
  return new Set(rows.map(({ statement_id }) => statement_id));
}
/** Lines of a statement that are looked at for a page. */
const LOOKED_AT = 2000;

export const findLine = (database: Reader, id: string) => rowWithId(database, LINES, id);

/** A line that no other transaction changes until this one ends. Writes nothing. Throws `DatabaseError`. */
export async function holdLine(transaction: Reader, id: string): Promise<KeptLine | undefined> {
  const sql = `update statement_lines set version = version where id = ? returning ${LINE}`;
  return (await transaction.query<KeptLine>(sql, id))[0];
}

/** The lines that are the money of these payments. */
export async function linesOfPayments(database: Reader, paymentIds: readonly string[]): Promise<KeptLine[]> {
  if (paymentIds.length === 0) return [];
  const sql = `select ${LINE} from statement_lines where payment_id in (${marks(paymentIds)}) order by id`;
  return database.query<KeptLine>(sql, ...paymentIds);
}

/** The lines that a line was split into, in their order; none that it was split into before and is no more. */
export function partsOfLine(
  database: Reader,
  { account, fingerprint }: Pick<KeptLine, 'account' | 'fingerprint'>,
): Promise<KeptLine[]> {
  return database.query<KeptLine>(
    `select ${LINE} from statement_lines where account = ? and fingerprint > ? and fingerprint < ? and state <> 'replaced' order by fingerprint`,
    account,
    `${fingerprint}/`,
    `${fingerprint}0`,
  );
}

/** The line that a line is a part of, if it is one. */
export async function wholeOf(
  database: Reader,
  { account, fingerprint }: Pick<KeptLine, 'account' | 'fingerprint'>,
): Promise<KeptLine | undefined> {
  const whole = fingerprint.split('/')[0]!;
  return isPart({ fingerprint }) ? (await linesByFingerprint(database, account, [whole]))[0] : undefined;
}

/** Whether a line is a part of one that was split. */
export const isPart = ({ fingerprint }: Pick<KeptLine, 'fingerprint'>): boolean => fingerprint.includes('/');

/** Lines of days before `day` whose words are still there, the oldest first. */
export function oldLines(database: Reader, day: string, limit: number): Promise<KeptLine[]> {
  return database.query<KeptLine>(
    `select ${LINE} from statement_lines where day < ? and (day <> '' or created_at < ?) and details is not null
     order by day, id limit ? + 0`,
    day,
    Date.parse(day),
    limit,
  );
}

/** Which lines; what is undefined narrows nothing. */
export interface LineFilter {
  account?: string | undefined;
  statement_id?: string | undefined;
  currency?: string | undefined;
  state?: LineState | undefined;
  direction?: KeptLine['direction'] | undefined;
  /** The first and the last day, YYYY-MM-DD. */
  from?: string | undefined;
  to?: string | undefined;
}

/** Where a list of lines goes on. */
export type LinePlace = Pick<KeptLine, 'day' | 'id'>;

/** Lines, by default the newest day first, behind `after`. */
export const listLines = (
  database: Reader,
  filter: LineFilter,
  after: LinePlace | undefined,
  limit: number,
  first: 'newest' | 'oldest' = 'newest',
) => readLines<KeptLine>(database, filter, after, { limit, first, columns: LINE });

/** What a search looks at. */
export type SearchedLine = Pick<KeptLine, 'id' | 'day' | 'amount_minor' | 'currency' | 'details'>;

/** The same of the newest ones, without what a search does not look at: rows of few columns are read in half the time. */
export const listSearched = (database: Reader, after: LinePlace | undefined, limit: number) =>
  readLines<SearchedLine>(database, {}, after, {
    ...{ limit, first: 'newest', columns: 'id, day, amount_minor, currency, details' },
  });

function readLines<R extends object>(
  database: Reader,
  { from, to, ...equal }: LineFilter,
  after: LinePlace | undefined,
  { limit, first, columns }: { limit: number; first: 'newest' | 'oldest'; columns: string },
): Promise<R[]> {
  const [sign, order] = first === 'newest' ? ['<', 'desc'] : ['>', 'asc'];
  const conditions: [sql: string, values: Value[]][] = Object.entries(equal)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => [`${column} = ?`, [value as string]]);
  conditions.push([STANDS, []]);
  if (from !== undefined) conditions.push(['day >= ?', [from]]);
  if (to !== undefined) conditions.push(['day <= ?', [to]]);
  if (after)
    conditions.push([`(day ${sign} ? or day = ? and id ${sign} ?)`, [after.day, after.day, after.id]]);
  return database.query<R>(
    `select ${columns} from statement_lines where ${conditions.map(([sql]) => sql).join(' and ')}
     order by day ${order}, id ${order} limit ? + 0`,
    ...conditions.flatMap(([, values]) => values),
    limit,
  );
}

/** How many lines of an account and a direction are in a state, and their sum, as `sumMinor` gives it. */
export interface LineSum extends Pick<KeptLine, 'account' | 'currency' | 'direction' | 'state' | 'booked'> {
  count: number;
  sum_minor: number;
  /** The newest day. */
  last_day: string;
}

/** The ids of statements whose lines arrived before them. One step through an index for each statement finds them. */
async function statementsToCome(database: Reader): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `with recursive named(id) as (
       select min(statement_id) from statement_lines
       union all
       select (select min(statement_id) from statement_lines where statement_id > named.id) from named where named.id is not null
     )
     select id from named where id is not null and not exists (select 1 from statements where statements.id = named.id)`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Sums with the thousandths of their lines, which the column of the amount cannot hold. `by`: the columns that tell the lines of a sum;
 * `where`: which lines are in any. Throws `DatabaseError`.
 */
export async function withThousandths<S extends { sum_minor: number }>(
  database: Reader,
  sums: readonly S[],
  by: readonly (keyof S & keyof KeptLine)[],
  where: string,
  ...values: Value[]
): Promise<S[]> {
  const lines = await database.query<KeptLine & S>(
    `select ${by.join(', ')}, amount_minor, fingerprint, details from statement_lines
     where ${where} and (details like '%"beyond":%' or details like '%"third":%')`,
    ...values,
  );
  const key = (one: S) => JSON.stringify(by.map((column) => one[column]));
  const found = Map.groupBy(lines, key);
  return sums.map((one) => {
    const beyond = (found.get(key(one)) ?? []).map((line) => exactMinor(line) - line.amount_minor);
    return { ...one, sum_minor: sumMinor([one.sum_minor, ...beyond]) };
  });
}

/** The sums of all lines that are seen, by account, currency, direction, state, and whether they are booked. */
export async function lineSums(database: Reader): Promise<LineSum[]> {
  const toCome = await statementsToCome(database);
  const seen = `state <> 'undone' ${toCome.length > 0 ? `and statement_id not in (${marks(toCome)})` : ''}`;
  const by = ['account', 'currency', 'direction', 'state', 'booked'] as const;
  const sums = await database.query<LineSum>(
    `select ${by}, count(*) as count, cast(sum(amount_minor) as bigint) as sum_minor, max(day) as last_day
     from statement_lines where ${seen} group by ${by} order by ${by}`,
    ...toCome,
  );
  const currencies = [...new Set(sums.map(({ currency }) => currency))].filter(hasThousandths);
  if (currencies.length === 0) return sums;
  const where = `${seen} and currency in (${marks(currencies)})`;
  return withThousandths(database, sums, by, where, ...toCome, ...currencies);
}

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

export function listLayouts(database: Reader): Promise<KeptLayout[]> {
  const sql = `select ${LAYOUTS.columnList} from csv_layouts order by id desc limit ? + 0`;
  return database.query<KeptLayout>(sql, LAYOUTS_MAXIMUM);
}

export async function findLayout(
  database: Reader,
  account: string,
  shape: string,
): Promise<KeptLayout | undefined> {
  const sql = `select ${LAYOUTS.columnList} from csv_layouts where account = ? and shape = ?`;
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
    `select ${LINE} from statement_lines where account = ? and day >= ? and day <= ?
     and statement_id ${which === 'pasted' ? 'in' : 'not in'} (select id from statements where account = ? and format = 'pasted')
     order by day, id`,
    account,
    from,
    to,
    account,
  );
}
