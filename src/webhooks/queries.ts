// The SQL about webhook endpoints and their queues.
import type { PlaceTable } from '../journal/reading-place.ts';
import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedFloor } from '../lib/ids.ts';
import type { Mode } from '../merchants/merchant.ts';
import type { Tenant } from '../payments/queries.ts';
import type { Reader } from '../store/database.ts';
import { insertion, marks, NO_LIMIT, rowWithId, where } from '../store/table.ts';
import {
  ATTEMPTS,
  type AttemptMade,
  DELIVERIES,
  DELIVERY_ID_PREFIX,
  type Delivery,
  type DeliveryStatus,
  ENDPOINTS,
  type Endpoint,
  type EndpointState,
  type Queue,
  receiverOf,
} from './endpoint.ts';

const ENDPOINT = ENDPOINTS.columnList;
/** Where endpoints have come to in the history. */
export const QUEUES: PlaceTable = {
  name: 'webhook_queues',
  key: 'endpoint_id',
  columnList: 'endpoint_id, number, leased_by, leased_until, failing_since, answered_url',
};
const QUEUE = QUEUES.columnList;

/** Endpoints by id: of all merchants, or of one tenant. */
export function listEndpoints(database: Reader, tenant?: Tenant): Promise<Endpoint[]> {
  if (!tenant) return database.query<Endpoint>(`select ${ENDPOINT} from webhook_endpoints order by id`);
  return database.query<Endpoint>(
    `select ${ENDPOINT} from webhook_endpoints where merchant_id = ? and mode = ? order by id`,
    tenant.merchant_id,
    tenant.mode,
  );
}

/** Other enabled endpoints of a tenant that have the URL of this one. */
export async function othersWithUrl(database: Reader, endpoint: Endpoint): Promise<Endpoint[]> {
  const all = await listEndpoints(database, endpoint);
  return all.filter(
    (one) => one.id !== endpoint.id && one.disabled_at === null && receiverOf(one) === receiverOf(endpoint),
  );
}

/** An endpoint with when the first attempt since its last success failed, milliseconds since 1970; null after a success. */
export type StandingEndpoint = Endpoint & Pick<Queue, 'failing_since'>;

interface EndpointFilter {
  merchant_id?: string | undefined;
  mode?: Mode | undefined;
  state?: EndpointState | undefined;
  /** The id behind which they lie. */
  after?: string | undefined;
}

const IN_STATE: Record<EndpointState, string> = {
  enabled: 'disabled_at is null and failing_since is null',
  failing: 'disabled_at is null and failing_since is not null',
  disabled: 'disabled_at is not null',
};

/** Endpoints by id, each as it stands. */
export function searchEndpoints(
  database: Reader,
  { merchant_id, mode, state, after = '' }: EndpointFilter = {},
  limit = NO_LIMIT,
): Promise<StandingEndpoint[]> {
  const { sql, values } = where({ 'id > ?': after, 'merchant_id = ?': merchant_id, 'mode = ?': mode });
  return database.query(
    `select ${ENDPOINT}, failing_since from webhook_endpoints left join webhook_queues on endpoint_id = id
     where ${sql} ${state ? `and ${IN_STATE[state]}` : ''} order by id limit ? + 0`,
    ...values,
    limit,
  );
}

/** An endpoint as it stands. */
export async function standing(database: Reader, endpoint: Endpoint): Promise<StandingEndpoint> {
  const queue = await findQueue(database, endpoint.id);
  return { ...endpoint, failing_since: queue?.failing_since ?? null };
}

export const findEndpoint = (database: Reader, id: string) => rowWithId(database, ENDPOINTS, id);

/** Removes an endpoint and its queue. Its deliveries go when old ones are removed. */
export async function removeEndpoint(transaction: Transaction, id: string): Promise<void> {
  await transaction.change('delete from webhook_endpoints where id = ? returning id', id);
  await transaction.measure('delete from webhook_queues where endpoint_id = ?', id);
}

/** Adds the queue of a new endpoint. */
export function addQueue(transaction: Transaction, id: string, number: number): Promise<void> {
  return transaction.measure('insert into webhook_queues (endpoint_id, number) values (?, ?)', id, number);
}

export async function findQueue(database: Reader, id: string): Promise<Queue | undefined> {
  return (await database.query<Queue>(`select ${QUEUE} from webhook_queues where endpoint_id = ?`, id))[0];
}

/** Queues of a list of endpoints. */
export function queuesOf(database: Reader, ids: readonly string[]): Promise<Queue[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return database.query<Queue>(
    `select ${QUEUE} from webhook_queues where endpoint_id in (${marks(ids)})`,
    ...ids,
  );
}

interface EndpointStates {
  enabled: number;
  failing: number;
  disabled: number;
  /** When the endpoint began to fail that has failed longest and is not disabled, milliseconds since 1970. */
  failing_since: number | null;
  /** When the service last disabled an endpoint that is disabled still, milliseconds since 1970. */
  disabled_at: number | null;
}

export async function endpointStates(database: Reader): Promise<EndpointStates> {
  const [states] = await database.query<EndpointStates>(
    `select coalesce(sum(case when disabled_at is null and failing_since is null then 1 else 0 end), 0) as enabled,
       coalesce(sum(case when disabled_at is null and failing_since is not null then 1 else 0 end), 0) as failing,
       coalesce(sum(case when disabled_at is not null then 1 else 0 end), 0) as disabled,
       min(case when disabled_at is null then failing_since end) as failing_since,
       max(case when disabled_reason in ('gone', 'failing') then disabled_at end) as disabled_at
     from webhook_endpoints left join webhook_queues on endpoint_id = id`,
  );
  return states!;
}

/** Moves a queue back to entry `number`, if it stands behind it: what is missing after that entry is queued again. */
export function moveBack(transaction: Transaction, id: string, number: number): Promise<void> {
  const sql = 'update webhook_queues set number = ? where endpoint_id = ? and number > ?';
  return transaction.measure(sql, number, id, number);
}

/**
 * Notes whether an endpoint answers, and at which URL it did if an attempt says so. Returns since when it has not, in milliseconds since
 * 1970; null if it does.
 */
export async function noteAnswer(
  transaction: Transaction,
  id: string,
  answers: boolean,
  url: string | null = null,
): Promise<number | null> {
  const rows = await transaction.query<Pick<Queue, 'failing_since'>>(
    `update webhook_queues set failing_since = ${answers ? 'null' : 'coalesce(failing_since, ?)'},
       answered_url = coalesce(?, answered_url) where endpoint_id = ? returning failing_since`,
    ...(answers ? [url, id] : [transaction.now, null, id]),
  );
  return rows[0]?.failing_since ?? null;
}

/** Enabled endpoints of each merchant that had a delivery due and no lease at `since`, and since when (milliseconds since 1970). */
export function leftAlone(
  database: Reader,
  since: number,
): Promise<{ merchant_id: string; endpoints: number; due_at: number }[]> {
  return database.query(
    `select e.merchant_id, count(distinct e.id) as endpoints, min(d.due_at) as due_at
     from webhook_endpoints e join webhook_queues q on q.endpoint_id = e.id join webhook_deliveries d on d.endpoint_id = e.id
     where e.disabled_at is null and q.leased_until <= ? and d.due_at <= ? group by e.merchant_id`,
    since,
    since,
  );
}

/** Enabled endpoints with a delivery that is due at `now` and no lease. */
export function dueEndpoints(database: Reader, now: number, leaseMs: number): Promise<{ id: string }[]> {
  return database.query(
    `select e.id from webhook_endpoints e join webhook_queues q on q.endpoint_id = e.id
     where e.disabled_at is null and (q.leased_until <= ? or q.leased_until > ?) and exists
       (select 1 from webhook_deliveries d where d.endpoint_id = e.id and d.due_at <= ?)`,
    now,
    now + 2 * leaseMs,
    now,
  );
}

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
