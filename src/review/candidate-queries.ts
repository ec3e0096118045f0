// The SQL that finds the payments which bank lines and pasted texts may be for, by indexes.
import { PAYMENTS, type Payment } from '../payments/payment.ts';
import type { Reader, Value } from '../store/database.ts';

const COLUMNS = PAYMENTS.columnList;
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
