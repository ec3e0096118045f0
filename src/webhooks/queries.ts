// The SQL about webhook endpoints and their queues.

import type { PlaceTable } from '../journal/reading-place.ts';
import type { Transaction } from '../journal/transaction.ts';
import type { Mode } from '../merchants/merchant.ts';
import type { Tenant } from '../payments/queries.ts';
import type { Reader } from '../store/database.ts';
import { marks, rowWithId, where } from '../store/table.ts';
import { ENDPOINTS, type Endpoint, type EndpointState, type Queue, receiverOf } from './endpoint.ts';

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

/** The largest limit that PostgreSQL takes for an integer. */
const NO_LIMIT = 2 ** 31 - 1;

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
