// The SQL about deliveries and their attempts.

import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedFloor } from '../lib/ids.ts';
import type { Tenant } from '../payments/queries.ts';
import type { Reader } from '../store/database.ts';
import { insertion, marks, where } from '../store/table.ts';
import {
  ATTEMPTS,
  type AttemptMade,
  DELIVERIES,
  DELIVERY_ID_PREFIX,
  type Delivery,
  type DeliveryStatus,
  type Endpoint,
} from './endpoint.ts';

const DELIVERY = DELIVERIES.columnList;
const REMOVED_AT_ONCE = 500;
const RESENT_AT_ONCE = 1000;

/** Queues deliveries. Leaves out those whose event the endpoint has already. */
export async function addDeliveries(transaction: Transaction, rows: readonly Delivery[]): Promise<void> {
  if (rows.length > 0) await transaction.measure(...insertion(DELIVERIES, rows, 'on conflict do nothing'));
}

/** Numbers of entries from `after` to `to` whose events were queued for an endpoint since it was changed last. */
export async function numbersQueued(
  transaction: Transaction,
  { id, updated_at }: Pick<Endpoint, 'id' | 'updated_at'>,
  after: number,
  to: number,
): Promise<Set<number>> {
  const rows = await transaction.query<Pick<Delivery, 'number'>>(
    `select number from webhook_deliveries
     where endpoint_id = ? and number > ? and number <= ? and created_at >= ?`,
    id,
    after,
    to,
    updated_at,
  );
  return new Set(rows.map(({ number }) => number));
}

/** The number of the oldest entry whose event waits for an endpoint; undefined if none waits. */
export async function oldestWaiting(transaction: Transaction, id: string): Promise<number | undefined> {
  const [row] = await transaction.query<{ number: number | null }>(
    'select min(number) as number from webhook_deliveries where endpoint_id = ? and due_at is not null',
    id,
  );
  return row?.number ?? undefined;
}

/** Deliveries of an endpoint that are due at `now`, the longest due first, without those of `but`. */
export function dueDeliveries(
  database: Reader,
  endpointId: string,
  now: number,
  but: readonly string[],
  limit: number,
): Promise<Delivery[]> {
  return database.query<Delivery>(
    `select ${DELIVERY} from webhook_deliveries where endpoint_id = ? and due_at <= ?
     ${but.length > 0 ? `and id not in (${marks(but)})` : ''} order by due_at limit ? + 0`,
    endpointId,
    now,
    ...but,
    limit,
  );
}

/**
 * Writes what became of an attempt. `due_at` is when it was due: a delivery that was made due again meanwhile, by hand, stays so. Nothing
 * changes if the delivery is gone.
 */
export async function noteAttempt(
  transaction: Transaction,
  { id, due_at }: Pick<Delivery, 'id' | 'due_at'>,
  after: Pick<Delivery, 'status' | 'due_at' | 'attempts' | 'tries'>,
  made: AttemptMade,
): Promise<void> {
  await transaction.measure('update webhook_deliveries set attempts = ? where id = ?', after.attempts, id);
  await transaction.measure(
    'update webhook_deliveries set status = ?, due_at = ?, tries = ? where id = ? and due_at = ?',
    after.status,
    after.due_at,
    after.tries,
    id,
    due_at,
  );
  await transaction.measure(...insertion(ATTEMPTS, [made], 'on conflict do nothing'));
}

/** A delivery, of a tenant if one is given; undefined if it is another tenant's, or its endpoint is gone. */
export async function findDelivery(
  database: Reader,
  id: string,
  tenant?: Tenant,
): Promise<Delivery | undefined> {
  const rows = await database.query<Delivery>(
    `select ${DELIVERY} from webhook_deliveries where id = ?
       and endpoint_id in (select id from webhook_endpoints ${tenant ? 'where merchant_id = ? and mode = ?' : ''})`,
    id,
    ...(tenant ? [tenant.merchant_id, tenant.mode] : []),
  );
  return rows[0];
}

interface WaitingDeliveries {
  count: number;
  /** When the one was queued that waits longest, milliseconds since 1970; null if none waits. */
  oldest: number | null;
}

export async function waitingDeliveries(database: Reader): Promise<WaitingDeliveries> {
  const [waiting] = await database.query<WaitingDeliveries>(
    `select count(*) as count, min(created_at) as oldest from webhook_deliveries
     where due_at is not null and endpoint_id in (select id from webhook_endpoints where disabled_at is null)`,
  );
  return waiting!;
}

export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  payment_id?: string | undefined;
}

/** Deliveries of an endpoint before the id `before`, newest first. */
export function listDeliveries(
  database: Reader,
  endpointId: string,
  { status, payment_id }: DeliveryFilter,
  before: string | undefined,
  limit: number,
): Promise<Delivery[]> {
  const { sql, values } = where({
    'endpoint_id = ?': endpointId,
    'status = ?': status,
    'payment_id = ?': payment_id,
    'id < ?': before,
  });
  return database.query<Delivery>(
    `select ${DELIVERY} from webhook_deliveries where ${sql} order by id desc limit ? + 0`,
    ...values,
    limit,
  );
}

/** Attempts of some deliveries, by delivery and number. */
export function attemptsOf(database: Reader, ids: readonly string[]): Promise<AttemptMade[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return database.query<AttemptMade>(
    `select ${ATTEMPTS.columnList} from webhook_attempts where delivery_id in (${marks(ids)}) order by delivery_id, number`,
    ...ids,
  );
}

/** Makes a delivery due now. The schedule of its attempts begins anew. */
export async function dueNow(transaction: Transaction, id: string): Promise<Delivery | undefined> {
  const rows = await transaction.query<Delivery>(
    `update webhook_deliveries set status = 'pending', due_at = ?, tries = 0 where id = ? returning ${DELIVERY}`,
    transaction.now,
    id,
  );
  return rows[0];
}

/** Makes up to 1,000 deliveries of an endpoint due now that were queued since `since` and whose last attempt failed. Returns how many. */
export async function failedDueNow(
  transaction: Transaction,
  endpointId: string,
  since: number,
): Promise<number> {
  const rows = await transaction.query(
    `update webhook_deliveries set status = 'pending', due_at = ?, tries = 0
     where id in (select id from webhook_deliveries
       where endpoint_id = ? and id >= ? and status in ('failed', 'retrying') order by id limit ? + 0) returning id`,
    transaction.now,
    endpointId,
    timeOrderedFloor(DELIVERY_ID_PREFIX, since),
    RESENT_AT_ONCE,
  );
  return rows.length;
}

/**
 * Removes some hundreds of deliveries that were queued before `until` (milliseconds since 1970) and have ended, or whose endpoint is
 * gone, with their attempts. Returns how many.
 */
export async function removeDeliveries(transaction: Transaction, until: number): Promise<number> {
  const rows = await transaction.query<{ id: string }>(
    `delete from webhook_deliveries where id in (select id from webhook_deliveries
       where id < ? and (due_at is null or endpoint_id not in (select id from webhook_endpoints)) order by id limit ? + 0)
     returning id`,
    timeOrderedFloor(DELIVERY_ID_PREFIX, until),
    REMOVED_AT_ONCE,
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0)
    await transaction.measure(`delete from webhook_attempts where delivery_id in (${marks(ids)})`, ...ids);
  return ids.length;
}
