// The SQL of reviewing: what other payments, merchants and administrators tell about one, and the payments that lines and texts may be for.

import { PAYMENTS, type Payment, type Status } from '../payments/payment.ts';
import type { Reader, Value } from '../store/database.ts';
import { decisionOf } from './review.ts';

const COLUMNS = PAYMENTS.columnList;

/** Expired payments whose customers asked for a new link, those that asked last first. */
export async function linksAskedFor(database: Reader, limit: number): Promise<Payment[]> {
  return database.query<Payment>(
    `select ${COLUMNS} from payments where link_requested_at is not null and status || '' = 'cancelled' order by link_requested_at desc, id desc limit ? + 0`,
    limit,
  );
}

/** Payments whose customers said that they had sent the transfer, which submitted none of them: the last said first. */
export async function announcedLate(database: Reader, limit: number): Promise<Payment[]> {
  return database.query<Payment>(
    `select ${COLUMNS} from payments where announced_at is not null and status || '' in ('pending', 'cancelled') order by announced_at desc, id desc limit ? + 0`,
    limit,
  );
}

/** What payments can have in common. */
export type Trait = 'payer_email' | 'payer_account' | 'merchant_reference';

/** Other payments with the same trait, newest first (with the same reference: of the same merchant and mode). None where it has none. */
export async function paymentsByTrait(
  database: Reader,
  trait: Trait,
  payment: Payment,
  limit: number,
): Promise<Payment[]> {
  const value = payment[trait];
  if (value === null) return [];
  const own = trait === 'merchant_reference';
  // Ids first, out of the trait's index: SQLite would rather walk all of a merchant's payments in their own order.
  return database.query<Payment>(
    `select ${COLUMNS} from payments where id in (
       select id from payments where ${trait} = ? ${own ? 'and merchant_id = ? and mode = ?' : ''}
       and id <> ? order by id desc limit ? + 0)
     order by id desc`,
    value,
    ...(own ? [payment.merchant_id, payment.mode] : []),
    payment.id,
    limit,
  );
}

/** The amounts (minor units) of a merchant's last decided payments in a payment's currency and mode, it left out, `limit` at most. */
export async function decidedAmounts(database: Reader, payment: Payment, limit: number): Promise<number[]> {
  const rows = await database.query<{ amount_minor: number }>(
    `select amount_minor from payments where merchant_id = ? and mode = ? and currency = ? and decided_at is not null and id <> ?
     order by decided_at desc limit ? + 0`,
    payment.merchant_id,
    payment.mode,
    payment.currency,
    payment.id,
    limit,
  );
  return rows.map(({ amount_minor }) => amount_minor);
}

/** A decision: of which payment, when (milliseconds since 1970) and by which administrator. */
export interface LastDecision {
  payment: string;
  status: Status;
  at: number;
  by: string | null;
}

/** How many payments were decided from one moment to before another, milliseconds since 1970. */
export async function decidedBetween(
  database: Reader,
  from: number,
  to: number,
): Promise<{ approved: number; rejected: number }> {
  const rows = await database.query<{ status: Status; count: number }>(
    `select status, count(*) as count from payments where decided_at >= ? and decided_at < ? and decided_at is not null
     group by status`,
    from,
    to,
  );
  const count = (status: Status) => rows.find((row) => row.status === status)?.count ?? 0;
  return { approved: count('approved'), rejected: count('rejected') };
}

/** The newest decision, or undefined. */
export async function lastDecision(database: Reader): Promise<LastDecision | null> {
  const [last] = await database.query<Pick<Payment, 'id' | 'status' | 'decided_at' | 'review'>>(
    `select id, status, decided_at, review from payments where decided_at is not null order by decided_at desc limit 1`,
  );
  if (!last) return null;
  const by = decisionOf(last)?.by ?? null;
  return { payment: last.id, status: last.status, at: last.decided_at!, by };
}

/** Values that one statement looks up. */
const AT_ONCE = 50;
/** Payments alike in one value that are looked at, the newest. */
const ALIKE_MAXIMUM = 20;

/** The columns that have an index of their own. */
type LookedUp = 'merchant_reference' | 'payer_account' | 'payer_name' | 'bank_reference';

/** Payments with one of `values` in `column`: of each value the newest 20. */
export function paymentsWith(
  database: Reader,
  column: LookedUp,
  values: readonly string[],
): Promise<Payment[]> {
  return eachOf(
    database,
    [...new Set(values)].map((value) => [value]),
    `${column} = ?`,
  );
}

/** Payments of exactly these amounts (hundredths and currency): of each the newest 20 that may still be paid. */
export function paymentsOfAmounts(
  database: Reader,
  amounts: readonly { minor: number; currency: string }[],
): Promise<Payment[]> {
  const distinct = new Map(amounts.map(({ minor, currency }) => [`${minor} ${currency}`, [minor, currency]]));
  return eachOf(
    database,
    [...distinct.values()],
    "amount_minor = ? and currency = ? and status in ('pending', 'requires_review', 'cancelled')",
  );
}

/** Payments whose ids lie in one of these ranges: a reference tells the moment of creation. */
export function paymentsInRanges(
  database: Reader,
  ranges: readonly { low: string; high: string }[],
): Promise<Payment[]> {
  const distinct = new Map(ranges.map(({ low, high }) => [`${low} ${high}`, [low, high]]));
  return eachOf(database, [...distinct.values()], 'id >= ? and id < ?', 1000);
}

/** Whether the store holds any payment that is no test. */
export async function hasLivePayments(database: Reader): Promise<boolean> {
  return (await database.query("select 1 as one from payments where mode = 'live' limit 1")).length > 0;
}

/** Asks for each of `values` by an index of its own, some at once. */
async function eachOf(
  database: Reader,
  values: readonly Value[][],
  condition: string,
  limit = ALIKE_MAXIMUM,
): Promise<Payment[]> {
  const found: Payment[] = [];
  for (let i = 0; i < values.length; i += AT_ONCE) {
    const some = values.slice(i, i + AT_ONCE);
    const one = `select id from payments where ${condition} order by id desc limit ? + 0`;
    const parts = some.map((_, place) => `select * from (${one}) as one${place}`);
    found.push(
      ...(await database.query<Payment>(
        `select ${COLUMNS} from payments where id in (${parts.join(' union all ')})`,
        ...some.flatMap((one) => [...one, limit]),
      )),
    );
    // SQLite answers without ever waiting: others get their turn between two questions.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
}

/** Texts that one statement looks up. */
const TEXTS_MAXIMUM = 200;

/** Those of `texts`, 200 at most, that payments have in `column`, in their order. */
export async function textsKnown(
  database: Reader,
  column: LookedUp,
  texts: readonly string[],
): Promise<string[]> {
  const asked = [...new Set(texts)].slice(0, TEXTS_MAXIMUM);
  if (asked.length === 0) return [];
  const known = await database.query<{ text: string }>(
    `select column1 as text from (values ${asked.map(() => '(?)').join(', ')}) as asked
     where exists (select 1 from payments where ${column} = column1)`,
    ...asked,
  );
  const found = new Set(known.map(({ text }) => text));
  return asked.filter((text) => found.has(text));
}

/** Payments whose ids lie from `low` to before `high`, as far as their references need. */
export function idsBetween(
  database: Reader,
  low: string,
  high: string,
): Promise<Pick<Payment, 'id' | 'salt'>[]> {
  return database.query('select id, salt from payments where id >= ? and id < ? order by id', low, high);
}
