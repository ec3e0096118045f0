// Finds payments among all there are, by whichever index narrows the search most.

import { timeOrderedFloor } from '../lib/ids.ts';
import type { Mode } from '../merchants/merchant.ts';
import { PAYMENT_ID_PREFIX, PAYMENTS, type Payment, type Status } from '../payments/payment.ts';
import type { Reader, Value } from '../store/database.ts';
import { marks } from '../store/table.ts';

const COLUMNS = PAYMENTS.columnList;

/**
 * The most payments that one statement of a search reads in each branch. Without an index, payments are read in windows, so that a search
 * for something rare does not delay others.
 */
const WINDOW = 2000;

/** Which of all payments. What is undefined does not narrow. */
export interface SearchFilter {
  /** Any of them. */
  ids?: readonly string[] | undefined;
  /** The merchant's own, exact. */
  reference?: string | undefined;
  /** In any letter case. */
  email?: string | undefined;
  /** The account the customer paid from, as `searchedReference` writes it. */
  account?: string | undefined;
  /** The payer, as `searchedName` writes it. */
  payer?: string | undefined;
  /** The bank's, as `searchedReference` writes it. */
  bank_reference?: string | undefined;
  /** Exact, minor units. */
  amount_minor?: number | undefined;
  /** Counts only beside an amount. */
  currency?: string | undefined;
  status?: Status | undefined;
  merchant_id?: string | undefined;
  mode?: Mode | undefined;
  /** Created from this moment on, and before that one, milliseconds since 1970. */
  from?: number | undefined;
  to?: number | undefined;
}

/** A part of a statement's condition. */
export interface Condition {
  sql: string;
  values: Value[];
}

type Column = (typeof RARE)[number] | 'currency' | 'merchant_id' | 'mode' | 'status';

/** A search whose results, together with those of its like, are what is looked for. */
interface Branch {
  /** What an index serves: its entries are in the order of ids, but where they are `few`. */
  driving: Condition[];
  /** What each of them is tested for. */
  tested: Condition[];
  /** No more than a window holds: looked through at once. */
  few?: true;
}

const MODES: readonly Mode[] = ['live', 'test'];
/** The first of them that is asked for drives a search: few payments have the same. */
const RARE = [
  'payer_email',
  'payer_account',
  'bank_reference',
  'payer_name',
  'merchant_reference',
  'amount_minor',
] as const;

const served = (column: Column, value: Value): Condition => ({ sql: `${column} = ?`, values: [value] });

/** A condition in a form that no index serves. */
const unindexed = (column: Column, value: Value): Condition => ({
  sql: `${column} ${column === 'amount_minor' ? '+ 0' : "|| ''"} = ?`,
  values: [value],
});

/** As the index of what is past pending says it, or SQLite would not use that. */
const PAST_PENDING: Condition = { sql: "status <> 'pending'", values: [] };

/** As `asOf` shows it: what is pending past `now` counts as cancelled. */
function statusTested(status: Status | undefined, now: number): Condition[] {
  if (status === undefined) return [];
  if (status === 'pending')
    return [{ sql: "status || '' = 'pending' and expires_at + 0 > ?", values: [now] }];
  if (status === 'cancelled')
    return [
      {
        sql: "(status || '' = 'cancelled' or status || '' = 'pending' and expires_at + 0 <= ?)",
        values: [now],
      },
    ];
  return [unindexed('status', status)];
}

/** What a filter searches for, by column. */
export function columnsAsked(filter: SearchFilter): [Column, Value][] {
  const { email, account, bank_reference, payer, reference, amount_minor, currency } = filter;
  const columns: [Column, Value | undefined][] = [
    ['payer_email', email?.toLowerCase()],
    ['payer_account', account],
    ['bank_reference', bank_reference],
    ['payer_name', payer],
    ['merchant_reference', reference],
    ['amount_minor', amount_minor],
    ['currency', amount_minor === undefined ? undefined : currency],
  ];
  return columns.filter((one): one is [Column, Value] => one[1] !== undefined);
}

/** Chosen here and not by the planners, which know too little of the data: SQLite's takes any merchant for a narrow choice. */
async function branchesOf(
  database: Reader,
  filter: SearchFilter,
  now: number,
  window: number,
): Promise<Branch[]> {
  const { status, merchant_id, mode } = filter;
  const asked = new Map<Column, Value>(columnsAsked(filter));
  if (merchant_id !== undefined) asked.set('merchant_id', merchant_id);
  if (mode !== undefined) asked.set('mode', mode);
  const others = (...driving: Column[]) =>
    [...asked].filter(([column]) => !driving.includes(column)).map((one) => unindexed(...one));

  if (filter.ids) {
    const driving = [{ sql: `id in (${marks(filter.ids)})`, values: [...filter.ids] }];
    return [{ driving, tested: [...others(), ...statusTested(status, now)], few: true }];
  }
  for (const column of RARE) {
    const value = asked.get(column);
    if (value === undefined) continue;
    const driving = [served(column, value)];
    const branch = { driving, tested: [...others(column), ...statusTested(status, now)] };
    if (column !== 'merchant_reference') return [branch];
    // Its index has an order of its own. Where many have the same, it is tested for like all else.
    if (await areFew(database, driving[0]!, column, window)) return [{ ...branch, few: true }];
  }

  const modes = mode === undefined ? MODES : [mode];
  /** By a status as it is written. */
  const written = (is: Status | undefined, ...more: Condition[]): Branch[] => {
    const byStatus = is === undefined ? [] : [served('status', is)];
    if (merchant_id !== undefined)
      return modes.map((one) => ({
        driving: [served('merchant_id', merchant_id), served('mode', one), ...byStatus],
        tested: [...others('merchant_id', 'mode'), ...more],
      }));
    if (is !== undefined && is !== 'pending')
      return modes.map((one) => ({
        driving: [served('mode', one), ...byStatus, PAST_PENDING],
        tested: [...others('mode'), ...more],
      }));
    const tested = is === undefined ? [] : [unindexed('status', is)];
    return [{ driving: [], tested: [...others(), ...tested, ...more] }];
  };
  if (status !== 'pending' && status !== 'cancelled') return written(status);

  // Pending payments by their time: of those that have some left there are few in most stores, of those that have none nearly always.
  const sign = status === 'pending' ? '>' : '<=';
  const timed = { sql: `status = 'pending' and expires_at ${sign} ?`, values: [now] };
  const pending: Branch[] = (await areFew(database, timed, 'expires_at', window))
    ? [{ driving: [timed], tested: others(), few: true }]
    : written('pending', { sql: `expires_at + 0 ${sign} ?`, values: [now] });
  return status === 'pending' ? pending : [...written('cancelled'), ...pending];
}

/** Whether a window holds all payments that an index serves under `condition`; `order` is what that index has next. */
async function areFew(
  database: Reader,
  { sql, values }: Condition,
  order: string,
  window: number,
): Promise<boolean> {
  const beyond = await database.query(
    `select id from payments where ${sql} order by ${order} limit 1 offset ? + 0`,
    ...values,
    window,
  );
  return beyond.length === 0;
}

/** Ids from `low` to before `high`. */
interface Range {
  low: string;
  high: string;
}

function selectIds({ driving, tested, few }: Branch, { low, high }: Range): Condition {
  // What is few is taken from its own index, and not looked for among the ids.
  const id = few ? "id || ''" : 'id';
  const conditions = [...driving, ...tested, { sql: `${id} >= ? and ${id} < ?`, values: [low, high] }];
  return {
    sql: `select id from payments where ${conditions.map(({ sql }) => sql).join(' and ')} order by ${id} desc`,
    values: conditions.flatMap(({ values }) => values),
  };
}

/** The part of `range`, from its high end, that holds no more than a window of what a branch has to test. */
async function windowOf(database: Reader, branch: Branch, range: Range, window: number): Promise<Range> {
  if (branch.few || branch.tested.length === 0) return range;
  const { sql, values } = selectIds({ ...branch, tested: [] }, range);
  const [last] = await database.query<{ id: string }>(`${sql} limit 1 offset ? + 0`, ...values, window - 1);
  return last ? { ...range, low: last.id } : range;
}

/**
 * Payments newest first, created before the one with the id `before`. What is pending past `now` counts as cancelled, as `asOf`
 * shows it. `window` is how many are looked through before others get their turn.
 */
export async function searchPayments(
  database: Reader,
  filter: SearchFilter,
  before: string | undefined,
  limit: number,
  now: number,
  window = WINDOW,
): Promise<Payment[]> {
  const branches = await branchesOf(database, filter, now, window);
  const { from, to } = filter;
  const low = from === undefined ? '' : timeOrderedFloor(PAYMENT_ID_PREFIX, from);
  let high = before ?? '~';
  if (to !== undefined) high = least(high, timeOrderedFloor(PAYMENT_ID_PREFIX, to));
  const found: Payment[] = [];
  for (;;) {
    let range = { low, high };
    for (const branch of branches) range = await windowOf(database, branch, range, window);
    found.push(...(await searchIn(database, branches, range, limit - found.length)));
    if (found.length >= limit || range.low === low) return found;
    high = range.low;
    // SQLite answers without ever waiting: others get their turn between two windows.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const least = (a: string, b: string) => (a < b ? a : b);

function searchIn(
  database: Reader,
  branches: readonly Branch[],
  range: Range,
  limit: number,
): Promise<Payment[]> {
  // Ids first, from an index alone if it holds what is searched: else SQLite would read the wide rows in their own order.
  const selects = branches.map((branch) => selectIds(branch, range));
  const parts = selects.map(({ sql }, index) => `select * from (${sql} limit ? + 0) as branch${index}`);
  return database.query<Payment>(
    `select ${COLUMNS} from payments where id in (${parts.join(' union all ')}) order by id desc limit ? + 0`,
    ...selects.flatMap(({ values }) => [...values, limit]),
    limit,
  );
}
