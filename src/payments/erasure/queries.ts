// The SQL that erases: personal data out of a payment, the answers about it, and what a file still holds of both.
import type { Database } from '../../database/database.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { MOVES, PAYMENT_COLUMNS, type Payment } from '../payment.ts';

/** Statuses that something may still come of: some move starts from them. */
const OPEN = [...new Set(Object.values(MOVES).map(({ from }) => from))];

/** What may tell who paid, or what for. An address's path may name a person as well as its query: it goes whole. */
const PERSONAL = [
  'description',
  'return_url',
  'cancel_url',
  'customer',
  'metadata',
  'payment_details',
  'submission',
  'review_message',
  'payer_email',
  'payer_account',
  'review',
] as const satisfies (keyof Payment)[];

/** Empties a payment of personal data and gives it another salt. No row back: absent, or something may still come of it. */
export async function clearPayment(
  transaction: Transaction,
  id: string,
  salt: string,
): Promise<Payment | undefined> {
  const rows = await transaction.change<Payment>(
    `update payments set ${PERSONAL.map((name) => `${name} = null`).join(', ')}, salt = ?, version = version + 1
     where id = ? and status not in (${OPEN.map(() => '?').join(', ')}) returning ${PAYMENT_COLUMNS.join(', ')}`,
    salt,
    id,
    ...OPEN,
  );
  return rows[0];
}

/** Deletes the answers that speak of a payment: each was kept at the moment of one of its entries. */
export function deleteAnswersOf(transaction: Transaction, payment: string): Promise<{ scope: string }[]> {
  return transaction.change<{ scope: string }>(
    `delete from idempotency_keys where created_at in (select at from audit_entries where subject = ?) and body like ?
     returning scope`,
    payment,
    `%${payment}%`,
  );
}

/** Has SQLite overwrite what it deletes from now on. PostgreSQL has no such thing. Raises `DatabaseError`. */
export async function overwriteDeleted(database: Database): Promise<void> {
  if (database.engine === 'sqlite') await database.script('pragma secure_delete = on');
}

/**
 * Writes a SQLite file anew, for what its free space holds of earlier states of a row, and empties the write-ahead log. Needs
 * as much space again while it lasts. PostgreSQL is left to its operator. Raises `DatabaseError`.
 */
export async function dropTraces(database: Database): Promise<void> {
  if (database.engine === 'sqlite') await database.script('vacuum; pragma wal_checkpoint(truncate)');
}
