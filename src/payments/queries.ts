// The SQL about payments. Every read a merchant can cause carries the merchant and the mode in its condition.

import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedFloor } from '../lib/ids.ts';
import type { Mode } from '../merchants/merchant.ts';
import type { Reader, Value } from '../store/database.ts';
import { heldRows, integer, marks, type RowOf, rowsWithIds, rowWithId, table, text } from '../store/table.ts';
import { MOVES, type Move, PAYMENT_ID_PREFIX, PAYMENTS, type Payment, type Status } from './payment.ts';

const COLUMNS = PAYMENTS.columnList;

export interface Tenant {
  merchant_id: string;
  mode: Mode;
}

/** One text for a tenant, to look it up by. */
export const tenantName = ({ merchant_id, mode }: Tenant) => `${merchant_id} ${mode}`;

/** A payment the caller: for checkout, where the id is the key. */
export const findPayment = (database: Reader, id: string) => rowWithId(database, PAYMENTS, id);

export async function findPaymentOf(
  database: Reader,
  tenant: Tenant,
  id: string,
): Promise<Payment | undefined> {
  const sql = `select ${COLUMNS} from payments where id = ? and merchant_id = ? and mode = ?`;
  return (await database.query<Payment>(sql, id, tenant.merchant_id, tenant.mode))[0];
}

interface Listing extends Tenant {
  /** Only payments created before the one with this id; the newest when there is none. */
  before: string | undefined;
  merchant_reference: string | undefined;
  status: Status | undefined;
  limit: number;
  now: number;
}

/** Payments whose time has passed and that the sweeper has yet to write: few, and found by their time. */
const DUE = "select id from payments where status = 'pending' and expires_at <= ?";

/** Payments newest first. What is pending past its time counts as cancelled, as `asOf` shows it. */
export function listPayments(database: Reader, listing: Listing): Promise<Payment[]> {
  const { merchant_id, mode, before = '~', merchant_reference, status, limit, now } = listing;
  const isNarrow = merchant_reference !== undefined || status !== undefined;
  const select = (condition: string, ...given: Value[]) => {
    const found = (columns: string) =>
      `select ${columns} from payments where merchant_id = ? and mode = ? and id < ?
       ${merchant_reference === undefined ? '' : 'and merchant_reference = ?'} ${condition} order by id desc limit ? + 0`;
    // Ids first, out of an index alone: SQLite would rather walk all of a merchant's payments in their own order.
    const sql = isNarrow
      ? `select ${COLUMNS} from payments where id in (${found('id')}) order by id desc`
      : found(COLUMNS);
    return {
      sql,
      values: [
        merchant_id,
        mode,
        before,
        ...(merchant_reference === undefined ? [] : [merchant_reference]),
        ...given,
        limit,
      ],
    };
  };
  const rows = ({ sql, values }: ReturnType<typeof select>) => database.query<Payment>(sql, ...values);
  if (status === undefined) return rows(select(''));
  if (status === 'pending') return rows(select(`and status = 'pending' and id not in (${DUE})`, now));
  if (status !== 'cancelled') return rows(select('and status = ?', status));
  const [written, due] = [select("and status = 'cancelled'"), select(`and id in (${DUE})`, now)];
  const sql = `select * from (${written.sql}) as written
     union all select * from (${due.sql}) as due order by id desc limit ? + 0`;
  return rows({ sql, values: [...written.values, ...due.values, limit] });
}

/** The columns that a change may write besides the version. */
export type Written = Partial<
  Omit<Payment, 'id' | 'merchant_id' | 'mode' | 'amount_minor' | 'currency' | 'version' | 'created_at'>
>;

interface Guard {
  /** Columns and the values that they must have. */
  is?: Partial<
    Pick<Payment, 'merchant_id' | 'mode' | 'version' | 'status_reason' | 'link_requested_at' | 'announced_at'>
  >;
  status?: readonly Status[];
  /** Whether the payment's time must be `ahead` or must have `passed`. */
  expiry?: 'ahead' | 'passed';
}

/**
 * The one statement that changes a payment. Its condition is the guard: of two changes at once, on whatever nodes, and of a change and
 * the clock, one finds the row as it must be. Returns the payment as it is now, or undefined if the guard did not hold.
 */
export async function changePayment(
  transaction: Transaction,
  id: string,
  { is = {}, status, expiry }: Guard,
  written: Written,
): Promise<Payment | undefined> {
  const { now } = transaction;
  const set = Object.entries(written);
  const conditions: [sql: string, values: (string | number)[]][] = [['id = ?', [id]]];
  for (const [name, value] of Object.entries(is))
    conditions.push(value === null ? [`${name} is null`, []] : [`${name} = ?`, [value]]);
  if (status) conditions.push([`status in (${marks(status)})`, [...status]]);
  if (expiry) conditions.push([`expires_at ${expiry === 'ahead' ? '>' : '<='} ?`, [now]]);
  const rows = await transaction.change<Payment>(
    `update payments set version = version + 1${set.map(([name]) => `, ${name} = ?`).join('')}
     where ${conditions.map(([sql]) => sql).join(' and ')} returning ${COLUMNS}`,
    ...set.map(([, value]) => value ?? null),
    ...conditions.flatMap(([, values]) => values),
  );
  return rows[0];
}

/** Moves a payment along the table of moves. Returns undefined if it is not where the move starts, or the guard did not hold. */
export function movePayment(
  transaction: Transaction,
  move: Move,
  id: string,
  guard: Omit<Guard, 'status' | 'expiry'>,
  written: Omit<Written, 'status'>,
): Promise<Payment | undefined> {
  const { from, to, expiry } = MOVES[move];
  const where = { ...guard, status: from, ...(expiry && { expiry }) };
  return changePayment(transaction, id, where, { status: to, updated_at: transaction.now, ...written });
}

/** Up to `limit` pending payments whose time has passed, those that have waited longest. */
export function findDuePayments(transaction: Transaction, limit: number): Promise<{ id: string }[]> {
  return transaction.query<{ id: string }>(`${DUE} order by expires_at limit ? + 0`, transaction.now, limit);
}

/** How many payments of a merchant were created since a moment (milliseconds since 1970), live and test; at most `maximum` + 1. */
export async function countCreated(
  database: Reader,
  merchantId: string,
  since: number,
  maximum: number,
): Promise<number> {
  const first = timeOrderedFloor(PAYMENT_ID_PREFIX, since);
  const some = (mode: Mode) =>
    `select id from payments where merchant_id = ? and mode = '${mode}' and id >= ? limit ? + 0`;
  const values = [merchantId, first, maximum + 1];
  const [row] = await database.query<{ count: number }>(
    `select count(*) as count from (select * from (${some('live')}) as live union all select * from (${some('test')}) as test limit ? + 0) as recent`,
    ...[...values, ...values, maximum + 1],
  );
  return row!.count;
}

export function paymentsAfter(database: Reader, id: string | undefined, limit: number): Promise<Payment[]> {
  return database.query<Payment>(
    `select ${COLUMNS} from payments ${id === undefined ? '' : 'where id > ?'} order by id limit ? + 0`,
    ...(id === undefined ? [] : [id]),
    limit,
  );
}

/** Some payments of any merchant. */
export const findPayments = (database: Reader, ids: readonly string[]) =>
  rowsWithIds(database, PAYMENTS, ids);

/**
 * Payments created by entries after number `after` up to `until` for a reference whose link had expired, and whose customer asked for a
 * new one: the first after that, with `asked`, the payment whose link it was.
 */
export function createdForRequests(
  database: Reader,
  after: number,
  until: number,
): Promise<{ id: string; number: number; merchant_id: string; asked: string }[]> {
  return database.query(
    `select p.id, e.number, p.merchant_id, asked.id as asked from audit_entries e cross join payments p cross join payments asked
     where e.number > ? and e.number <= ? and e.action = 'payment.created' and p.id = e.subject
       and asked.merchant_id || '' = p.merchant_id and asked.mode = p.mode and asked.id < p.id
       and asked.merchant_reference = p.merchant_reference and asked.link_requested_at is not null and not exists (
         select 1 from payments sooner where sooner.merchant_id || '' = p.merchant_id and sooner.mode = p.mode
           and sooner.merchant_reference = p.merchant_reference and sooner.id < p.id and sooner.id > asked.id
           and sooner.created_at >= asked.link_requested_at)`,
    after,
    until,
  );
}

/**
 * Payments of a merchant that are pending, behind the id `after`: made before `madeBefore` (milliseconds since 1970), to be paid on a day
 * from `from` to `to`.
 */
export function pendingToPayBy(
  database: Reader,
  { merchant_id, mode }: Tenant,
  { from, to, madeBefore, after }: { from: string; to: string; madeBefore: number; after: string },
  limit: number,
): Promise<{ id: string }[]> {
  return database.query(
    `select id from payments where merchant_id = ? and mode = ? and status = 'pending' and id > ? and id < ?
       and pay_by >= ? and pay_by <= ? and announced_at is null and received_minor is null order by id limit ? + 0`,
    ...[merchant_id, mode, after, timeOrderedFloor(PAYMENT_ID_PREFIX, madeBefore), from, to, limit],
  );
}

/** The answer kept for an idempotency key; `scope` names merchant, mode, route and key by their digest. */
export const KEPT_ANSWERS = table('idempotency_keys', {
  scope: text(),
  request_digest: text(),
  status: integer(),
  body: text(),
  created_at: integer(),
});
export type KeptAnswer = RowOf<typeof KEPT_ANSWERS>;

export async function findAnswer(
  database: Reader,
  scope: string,
  notBefore: number,
): Promise<KeptAnswer | undefined> {
  const sql = `select ${KEPT_ANSWERS.columnList} from idempotency_keys where scope = ? and created_at > ?`;
  return heldRows(await database.query<KeptAnswer>(sql, scope, notBefore), { scope })[0];
}

/** Up to `limit` answers kept since before `until`, the oldest first: all, or the one under `scope`. */
export function oldAnswers(
  database: Reader,
  until: number,
  limit: number,
  scope?: string,
): Promise<KeptAnswer[]> {
  return database.query<KeptAnswer>(
    `select ${KEPT_ANSWERS.columnList} from idempotency_keys where created_at <= ? ${scope === undefined ? '' : 'and scope = ?'}
     order by created_at limit ? + 0`,
    until,
    ...(scope === undefined ? [] : [scope]),
    limit,
  );
}

/** Forgets answers that are as old as they were seen to be. */
export function forgetAnswers(
  transaction: Transaction,
  until: number,
  scopes: readonly string[],
): Promise<{ scope: string }[]> {
  return transaction.change<{ scope: string }>(
    `delete from idempotency_keys where scope in (${marks(scopes)}) and created_at <= ? returning scope`,
    ...scopes,
    until,
  );
}
