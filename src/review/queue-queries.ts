// The queue of payments under review: its pages, what they come to, and which comes next. One index holds all that narrows it.

import type { Mode } from '../merchants/merchant.ts';
import { PAYMENTS, type Payment } from '../payments/payment.ts';
import type { Reader, Value } from '../store/database.ts';
import { marks } from '../store/table.ts';
import { type Condition, columnsAsked, type SearchFilter } from './search-queries.ts';

const COLUMNS = PAYMENTS.columnList;

/** Since when a payment waits, as the index has it: payments sent before there was a console say so nowhere else. */
const SINCE = 'coalesce(submitted_at, created_at)';

/** What the matched lines of bank statements come to: the amount that was asked for, another one, or there are none. */
export const MONEY_SEEN = ['exact', 'other', 'none'] as const;
const ON_STATEMENT = '(select sum(amount_minor) from statement_lines where payment_id = payments.id)';
const MONEY_CONDITIONS: Record<(typeof MONEY_SEEN)[number], string> = {
  exact: `amount_minor = ${ON_STATEMENT}`,
  other: `amount_minor <> ${ON_STATEMENT}`,
  none: `${ON_STATEMENT} is null`,
};

/** Narrows the payments under review. An undefined member does not narrow. */
export interface QueueFilter {
  merchant_id?: string | undefined;
  mode?: Mode | undefined;
  /** The id of the way to pay. */
  method?: string | undefined;
  currency?: string | undefined;
  /** At least this much, minor units. */
  minimum_minor?: number | undefined;
  /** Waiting since this moment or longer, milliseconds since 1970. */
  waiting_since?: number | undefined;
  /** Sent after this moment, milliseconds since 1970. */
  sent_after?: number | undefined;
  /** What a search looks for, as `meaningOf` gives it. */
  searched?: SearchFilter | undefined;
  /** What its matched bank lines come to. */
  money?: (typeof MONEY_SEEN)[number] | undefined;
  /** `available`: not claimed by another; `mine`: claimed by `by`; `others`: claimed by another. As of `now`. */
  claim?: { is: 'available' | 'mine' | 'others'; by: string; now: number } | undefined;
}

/** Where a payment stands in the queue. */
export interface QueuePlace {
  /** Milliseconds since 1970. */
  since: number;
  id: string;
}

/** The queue's place of a payment: by when it was sent for review. */
export function queuePlace({ submitted_at, created_at, id }: Payment): QueuePlace {
  return { since: submitted_at ?? created_at, id };
}

function narrowed(filter: QueueFilter): Condition {
  // Merchant and mode are written so that no other index serves them: SQLite would walk all of a merchant's payments.
  const parts: Condition[] = [{ sql: "status = 'requires_review'", values: [] }];
  const add = (sql: string, ...values: Value[]) => parts.push({ sql, values });
  if (filter.merchant_id !== undefined) add("merchant_id || '' = ?", filter.merchant_id);
  if (filter.mode !== undefined) add("mode || '' = ?", filter.mode);
  if (filter.currency !== undefined) add('currency = ?', filter.currency);
  if (filter.minimum_minor !== undefined) add('amount_minor >= ?', filter.minimum_minor);
  if (filter.waiting_since !== undefined) add(`${SINCE} <= ?`, filter.waiting_since);
  if (filter.sent_after !== undefined) add(`${SINCE} > ?`, filter.sent_after);
  if (filter.method !== undefined) add('method = ?', filter.method);
  if (filter.money !== undefined) add(MONEY_CONDITIONS[filter.money]);
  if (filter.searched) parts.push(...searchConditions(filter.searched));
  if (filter.claim) {
    const { is, by, now } = filter.claim;
    if (is === 'available') add('(claimed_by is null or claimed_by = ? or claimed_until <= ?)', by, now);
    else add(`claimed_by ${is === 'mine' ? '=' : '<>'} ? and claimed_until > ?`, by, now);
  }
  return {
    sql: parts.map((part) => part.sql).join(' and '),
    values: parts.flatMap((part) => part.values),
  };
}

/** What is searched has an index of its own, which few payments share; a merchant may give all its payments one reference. */
const searchConditions = (filter: SearchFilter): Condition[] => [
  ...(filter.ids ? [{ sql: `id in (${marks(filter.ids)})`, values: [...filter.ids] }] : []),
  ...columnsAsked(filter).map(([column, value]) => ({
    sql: `${column === 'merchant_reference' ? "merchant_reference || ''" : column} = ?`,
    values: [value],
  })),
];

/** Payments under review, those that wait longest first, behind `after`. `limit` + 1 tells whether there are more. */
export async function listQueue(
  database: Reader,
  filter: QueueFilter,
  after: QueuePlace | undefined,
  limit: number,
): Promise<Payment[]> {
  const { sql, values } = narrowed(filter);
  // Looked for in the index, which is small; the rows, which are wide, are read when it is known which.
  return database.query<Payment>(
    `select ${COLUMNS} from payments where id in (
       select id from payments where ${sql} ${after ? `and ${SINCE} >= ? and (${SINCE} > ? or id > ?)` : ''}
       order by ${SINCE}, id limit ? + 0)
     order by ${SINCE}, id`,
    ...values,
    ...(after ? [after.since, after.since, after.id] : []),
    limit,
  );
}

export interface QueueCount {
  count: number;
  /** Of whichever waits longest, milliseconds since 1970. */
  oldest: number | null;
  /** When the last of them was sent, milliseconds since 1970. */
  newest: number | null;
  /** By currency and mode, live first. */
  sums: { currency: string; mode: Mode; count: number; amount_minor: number }[];
  /** The ids of the ways to pay among them. */
  methods: string[];
}

/** The number of payments in the queue, and their sums. */
export async function countQueue(database: Reader, filter: QueueFilter): Promise<QueueCount> {
  const { sql, values } = narrowed(filter);
  // Sums are floating-point numbers: exact up to 2^53, and larger ones are still shown.
  const groups = await database.query<
    QueueCount['sums'][number] & {
      method: string | null;
      oldest: number;
      newest: number;
    }
  >(
    `select currency, mode, method, count(*) as count, sum(cast(amount_minor as double precision)) as amount_minor,
     min(${SINCE}) as oldest, max(${SINCE}) as newest from payments where ${sql} group by currency, mode, method order by mode, currency`,
    ...values,
  );
  const total: QueueCount = { count: 0, oldest: null, newest: null, sums: [], methods: [] };
  for (const { currency, mode, method, count, amount_minor, oldest, newest } of groups) {
    total.count += count;
    total.oldest = Math.min(total.oldest ?? oldest, oldest);
    total.newest = Math.max(total.newest ?? newest, newest);
    if (method !== null && !total.methods.includes(method)) total.methods.push(method);
    const last = total.sums.at(-1);
    if (last?.currency !== currency || last.mode !== mode)
      total.sums.push({ currency, mode, count, amount_minor });
    else Object.assign(last, { count: last.count + count, amount_minor: last.amount_minor + amount_minor });
  }
  return total;
}

/** The next payment of the queue behind `after` (which may have left it), or the first. Never `after` itself. */
export async function nextInQueue(
  database: Reader,
  after: QueuePlace,
  filter: QueueFilter,
): Promise<Payment | undefined> {
  const [next] = await listQueue(database, filter, after, 1);
  if (next) return next;
  const first = await listQueue(database, filter, undefined, 2);
  return first.find(({ id }) => id !== after.id);
}

/** The payments under review in front of a place. */
function inFront(filter: QueueFilter, { since, id }: QueuePlace): Condition {
  const { sql, values } = narrowed(filter);
  return {
    sql: `from payments where ${sql} and ${SINCE} <= ? and (${SINCE} < ? or id < ?)`,
    values: [...values, since, since, id],
  };
}

/** The payments of the queue in front of `place`, the nearest first. */
export async function listBefore(
  database: Reader,
  filter: QueueFilter,
  place: QueuePlace,
  limit: number,
): Promise<QueuePlace[]> {
  const { sql, values } = inFront(filter, place);
  const order = `order by ${SINCE} desc, id desc limit ? + 0`;
  return database.query<QueuePlace>(`select ${SINCE} as since, id ${sql} ${order}`, ...values, limit);
}

/** The number of payments in the queue before `place`. */
export async function countBefore(database: Reader, filter: QueueFilter, place: QueuePlace): Promise<number> {
  const { sql, values } = inFront(filter, place);
  const [counted] = await database.query<{ count: number }>(`select count(*) as count ${sql}`, ...values);
  return counted!.count;
}
