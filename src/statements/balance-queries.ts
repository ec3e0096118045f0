// The SQL about an account's balances: those that the bank named, and the sums of booked lines between them.
import { hasThousandths, type StatementFormat } from '#bank-statements';
import { dayAfter } from '../lib/time.ts';
import { sumMinor } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { marks } from '../store/table.ts';
import type { KeptLine } from './kept.ts';
import { withThousandths } from './line-queries.ts';

/** An account in one currency; a bank may keep several currencies under one number. */
export type Money = Pick<KeptLine, 'account' | 'currency'>;

/** Interim reports and notices name the balance of a moment, which does not count. */
const FORMATS: readonly StatementFormat[] = ['camt.053', 'mt940', 'ofx', 'csv'];
const BALANCED = `account = ? and currency = ? and format in (${FORMATS.map((format) => `'${format}'`).join(', ')})`;
/** Other lines show the money of a line that was split or replaced, and a statement that may come that of a pasted one. */
const BOOKED = `account = ? and currency = ? and booked = 1 and state not in ('split', 'replaced', 'undone')
  and exists (select 1 from statements where statements.id = statement_lines.statement_id and format <> 'pasted')`;
/** Statements of one day stand in the order of their numbers: `9`, `10`, `34/1`, `34/2`. */
const inOrder = (direction: 'asc' | 'desc') =>
  ['last_day', `length(coalesce(number, ''))`, `coalesce(number, '')`, 'id']
    .map((key) => `${key} ${direction}`)
    .join(', ');

/** A balance that the bank named for the end of `last_day`. */
interface Closing {
  last_day: string;
  closing_minor: number;
}

/** The closing balances of days from `from` to `to`, the oldest first. Throws `DatabaseError`. */
export function closingsOf(
  database: Reader,
  { account, currency }: Money,
  from: string,
  to: string,
): Promise<Closing[]> {
  return database.query<Closing>(
    `select last_day, closing_minor from statements
     where ${BALANCED} and closing_minor is not null and last_day >= ? and last_day <= ? order by ${inOrder('asc')}`,
    account,
    currency,
    from,
    to,
  );
}

/** The closing balance nearest to `day`: the last one of an earlier day, or the first of a later one. Throws `DatabaseError`. */
export async function closingBeside(
  database: Reader,
  { account, currency }: Money,
  side: 'before' | 'after',
  day: string,
): Promise<Closing | undefined> {
  const sql = `select last_day, closing_minor from statements
     where ${BALANCED} and closing_minor is not null and last_day ${side === 'before' ? '<' : '>'} ?
     order by ${inOrder(side === 'before' ? 'desc' : 'asc')} limit 1`;
  return (await database.query<Closing>(sql, account, currency, day))[0];
}

/**
 * Those of the statements `ids` whose lines are all in the balance that a statement of `format` opens with: it is the last one that the
 * bank named for a day before `day`, and they close no later. Throws `DatabaseError`.
 */
export async function closedBefore(
  database: Reader,
  { account, currency }: Money,
  { format, opening_minor, day }: { format: StatementFormat; opening_minor: number; day: string },
  ids: readonly string[],
): Promise<Set<string>> {
  const last = FORMATS.includes(format)
    ? await closingBeside(database, { account, currency }, 'before', day)
    : undefined;
  if (last?.closing_minor !== opening_minor) return new Set();
  const sql = `select id from statements
    where ${BALANCED} and closing_minor is not null and last_day <= ? and id in (${marks(ids)})`;
  const found = await database.query<{ id: string }>(sql, account, currency, last.last_day, ...ids);
  return new Set(found.map(({ id }) => id));
}

/** The opening balance of the oldest statement that names one, and the day of its first line. Throws `DatabaseError`. */
export async function firstOpening(
  database: Reader,
  { account, currency }: Money,
): Promise<{ day: string; opening_minor: number } | undefined> {
  const [oldest] = await database.query<{ id: string; last_day: string; opening_minor: number }>(
    `select id, last_day, opening_minor from statements
     where ${BALANCED} and opening_minor is not null and last_day is not null order by ${inOrder('asc')} limit 1`,
    account,
    currency,
  );
  if (!oldest) return undefined;
  const { id, last_day, opening_minor } = oldest;
  const [line] = await database.query<Pick<KeptLine, 'day'>>(
    `select day from statement_lines where account = ? and day <= ? and statement_id = ? and booked = 1 order by day limit 1`,
    account,
    last_day,
    id,
  );
  return { day: line?.day ?? last_day, opening_minor };
}

/** The booked lines of one day that are alike in direction and state: how many, and their sum, never negative. */
export type DaySum = Pick<KeptLine, 'day' | 'direction' | 'state'> & { count: number; sum_minor: number };

/** The sums of an account's booked lines from `from` to `to`, by day. Throws `DatabaseError`. */
export async function daySums(
  database: Reader,
  { account, currency }: Money,
  from: string,
  to: string,
): Promise<DaySum[]> {
  const where = `${BOOKED} and day >= ? and day <= ?`;
  const by = ['day', 'direction', 'state'] as const;
  const values = [account, currency, from, to];
  const sums = await database.query<DaySum>(
    `select ${by}, count(*) as count, cast(sum(amount_minor) as bigint) as sum_minor from statement_lines
     where ${where} group by ${by} order by ${by}`,
    ...values,
  );
  return hasThousandths(currency) ? withThousandths(database, sums, by, where, ...values) : sums;
}

/** The sum of lines, debits negative. */
export const signedSum = (sums: readonly Pick<DaySum, 'direction' | 'sum_minor'>[]): number =>
  sumMinor(sums.map(({ direction, sum_minor }) => (direction === 'debit' ? -sum_minor : sum_minor)));

/** The sum of the lines booked behind the day `after`, up to the day `to`: debits negative. Throws `DatabaseError`. */
export const bookedBetween = async (
  database: Reader,
  money: Money,
  after: string,
  to: string,
): Promise<number> => signedSum(await daySums(database, money, dayAfter(after), to));
