// The SQL that finds the entries about a merchant's payments, and erases the answers about one.

import type { AuditEntry } from '../journal/audit-entry.ts';
import { SELECT_ENTRIES } from '../journal/queries.ts';
import type { Transaction } from '../journal/transaction.ts';
import type { Reader } from '../store/database.ts';
import { marks } from '../store/table.ts';
import type { Payment } from './payment.ts';
import { KEPT_ANSWERS, type KeptAnswer, type Tenant, tenantName } from './queries.ts';

/** Entries in one stretch. Stretch 0 holds the entries 1 to 256. */
export const STRETCH = 256;

/** Whose payment an entry is about, as `tenantName` writes it. A subquery, so that no engine begins with all payments of a merchant. */
const TENANT_OF = "(select merchant_id || ' ' || mode from payments where id = subject)";

/** How many stretches are listed, from the first on. */
export async function listedStretches(database: Reader): Promise<number> {
  const [row] = await database.query<{ newest: number | null }>(
    "select max(stretch) as newest from payment_stretches where merchant_id = '' and mode = ''",
  );
  return (row?.newest ?? -1) + 1;
}

/** Lists the stretches from `first` to `last`, both included. Another node may do the same at the same time. */
export async function listStretches(transaction: Transaction, first: number, last: number): Promise<void> {
  await transaction.measure(
    `insert into payment_stretches (merchant_id, mode, stretch)
     select distinct p.merchant_id, p.mode, (e.number - 1) / ${STRETCH} from audit_entries e cross join payments p
     where p.id = e.subject and e.number > ? and e.number <= ? order by 1, 2, 3 on conflict do nothing`,
    first * STRETCH,
    (last + 1) * STRETCH,
  );
  await transaction.measure(
    "insert into payment_stretches (merchant_id, mode, stretch) values ('', '', ?) on conflict do nothing",
    last,
  );
}

/** Stretches that hold entries about a tenant's payments: from one on, or up to one, the newest first. */
export function stretchesOf(
  database: Reader,
  { merchant_id, mode }: Tenant,
  which: { from: number } | { until: number },
  limit: number,
): Promise<{ stretch: number }[]> {
  const [bound, stretch] =
    'from' in which ? ['>= ? order by stretch', which.from] : ['<= ? order by stretch desc', which.until];
  const sql = `select stretch from payment_stretches where merchant_id = ? and mode = ? and stretch ${bound} limit ? + 0`;
  return database.query(sql, merchant_id, mode, stretch, limit);
}

/**
 * Entries about a tenant's payments with numbers above `after` up to `until`, the oldest or the newest first. Looks at every entry between
 * these two.
 */
export function entriesOfTenant(
  database: Reader,
  tenant: Tenant,
  { after, until }: { after: number; until: number },
  limit: number,
  first: 'oldest' | 'newest' = 'oldest',
): Promise<AuditEntry[]> {
  const order = first === 'oldest' ? 'number' : 'number desc';
  return database.query<AuditEntry>(
    `${SELECT_ENTRIES} where number > ? and number <= ? and ${TENANT_OF} = ? order by ${order} limit ? + 0`,
    ...[after, until, tenantName(tenant), limit],
  );
}

/** The tenants that entries about payments with numbers above `after` up to `until` belong to. */
export function tenantsBetween(database: Reader, after: number, until: number): Promise<Tenant[]> {
  return database.query<Tenant>(
    `select distinct p.merchant_id, p.mode from audit_entries e cross join payments p
     where p.id = e.subject and e.number > ? and e.number <= ?`,
    after,
    until,
  );
}

/** All entries about some subjects, by subject and number. */
export function entriesOfSubjects(database: Reader, subjects: readonly string[]): Promise<AuditEntry[]> {
  return database.query<AuditEntry>(
    `${SELECT_ENTRIES} where subject in (${marks(subjects)}) order by subject, number`,
    ...subjects,
  );
}

/** What of a payment never changes, besides its times. */
export type PaymentFacts = Pick<
  Payment,
  'id' | 'merchant_id' | 'mode' | 'merchant_reference' | 'amount_minor' | 'currency'
>;

/** The facts of some payments of any merchant, by id. */
export function paymentFacts(database: Reader, ids: readonly string[]): Promise<PaymentFacts[]> {
  return database.query<PaymentFacts>(
    `select id, merchant_id, mode, merchant_reference, amount_minor, currency from payments
     where id in (${marks(ids)}) order by id`,
    ...ids,
  );
}

/** The ids of a tenant's payments that begin with `start`. */
export function paymentIdsFrom(
  database: Reader,
  { merchant_id, mode }: Tenant,
  start: string,
): Promise<{ id: string }[]> {
  return database.query(
    'select id from payments where merchant_id = ? and mode = ? and id >= ? and id < ? order by id',
    merchant_id,
    mode,
    start,
    `${start}~`,
  );
}

/** Deletes the answers that speak of a payment: each was kept at the moment of one of its entries. */
export function deleteAnswersOf(transaction: Transaction, payment: string): Promise<KeptAnswer[]> {
  return transaction.change<KeptAnswer>(
    `delete from idempotency_keys where created_at in (select at from audit_entries where subject = ?) and body like ?
     returning ${KEPT_ANSWERS.columnList}`,
    payment,
    `%${payment}%`,
  );
}
