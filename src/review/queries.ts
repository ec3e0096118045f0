// The SQL of reviewing one payment: what other payments, its merchant and administrators tell about it.

import { PAYMENTS, type Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';

export { decidedBetween, type LastDecision, lastDecision } from './home-queries.ts';
export {
  countBefore,
  countQueue,
  listBefore,
  listQueue,
  MONEY_SEEN,
  nextInQueue,
  type QueueCount,
  type QueueFilter,
  type QueuePlace,
  queuePlace,
} from './queue-queries.ts';
export { type SearchFilter, searchPayments } from './search-queries.ts';

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

/** A payment that no other transaction changes until this one ends. Writes nothing. Throws `DatabaseError`. */
export async function holdPayment(transaction: Reader, id: string): Promise<Payment | undefined> {
  const sql = `update payments set version = version where id = ? returning ${PAYMENTS.columnList}`;
  return (await transaction.query<Payment>(sql, id))[0];
}
