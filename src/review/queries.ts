// The SQL of reviewing one payment: what other payments, its merchant and administrators tell about it.
import { PAYMENTS, type Payment, type Status } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
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
