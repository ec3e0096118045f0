// Finds payments among all there are, by whichever index narrows the search most.
import type { Queryable, Value } from '../../../database/database.ts';
import { timeOrderedFloor } from '../../../lib/ids.ts';
import type { Mode } from '../../../merchants/merchant.ts';
import { PAYMENT_COLUMNS, PAYMENT_ID_PREFIX, type Payment, type Status } from '../../payment.ts';

type Reader = Pick<Queryable, 'query'>;
const COLUMNS = PAYMENT_COLUMNS.join(', ');

/** Which of all payments. What is undefined does not narrow. */
export interface SearchFilter {
  /** Exact. */
  id?: string | undefined;
  /** The merchant's own, exact. */
  reference?: string | undefined;
  /** In any letter case. */
  email?: string | undefined;
  /** Exact, minor units. */
  amount_minor?: number | undefined;
  /** Narrows a search for an amount alone. */
  currency?: string | undefined;
  status?: Status | undefined;
  merchant_id?: string | undefined;
  mode?: Mode | undefined;
  /** Created from this moment on, and before that one, milliseconds since 1970. */
  from?: number | undefined;
  to?: number | undefined;
}

interface Condition {
  column:
    | 'id'
    | 'payer_email'
    | 'merchant_reference'
    | 'amount_minor'
    | 'currency'
    | 'merchant_id'
    | 'mode'
    | 'status';
  value: Value;
}

/** The searches whose results together, newest first, are what is looked for; `driving` says how many conditions an index serves. */
interface Branch {
  conditions: Condition[];
  driving: number;
}

const MODES: readonly Mode[] = ['live', 'test'];

/** Chosen here and not by the planners, which know too little of the data: SQLite's takes any merchant for a narrow choice. */
function branchesOf(filter: SearchFilter): Branch[] {
  const given = (column: Condition['column'], value: Value | undefined): Condition[] =>
    value === undefined ? [] : [{ column, value }];
  const rare = [
    given('id', filter.id),
    given('payer_email', filter.email?.toLowerCase()),
    given('merchant_reference', filter.reference),
    given('amount_minor', filter.amount_minor),
  ].flat();
  const merchant = given('merchant_id', filter.merchant_id);
  const mode = given('mode', filter.mode);
  const status = given('status', filter.status);
  if (rare.length > 0) {
    const currency = filter.amount_minor === undefined ? [] : given('currency', filter.currency);
    return [{ conditions: [...rare, ...currency, ...merchant, ...mode, ...status], driving: 1 }];
  }
  const modes = filter.mode === undefined ? MODES : [filter.mode];
  const isPast = filter.status !== undefined && filter.status !== 'pending';
  if (merchant.length > 0 || isPast) {
    const all = modes.map((value) => [...merchant, { column: 'mode', value } as const, ...status]);
    return all.map((conditions) => ({ conditions, driving: conditions.length }));
  }
  // What is newest is looked through in its own order: most of it is pending, as are most that are asked for here.
  return [{ conditions: [...mode, ...status], driving: 0 }];
}

/** Written so that no index serves it. */
function unindexed({ column }: Condition): string {
  return `${column} ${column === 'amount_minor' ? '+ 0' : "|| ''"} = ?`;
}

const DUE = "select id from payments where status = 'pending' and expires_at <= ?";

/** A branch as statements: pending payments whose time has passed are looked for beside those written down as cancelled. */
function statementsOf({ conditions, driving }: Branch, asked: Status | undefined, now: number) {
  const lines = conditions.map((condition, index) => ({
    sql: index < driving ? `${condition.column} = ?` : unindexed(condition),
    values: [condition.value],
  }));
  // As the index of what is past pending says it, or SQLite would not use that.
  if (asked !== undefined && asked !== 'pending') lines.push({ sql: "status <> 'pending'", values: [] });
  const all = (...more: { sql: string; values: Value[] }[]) => {
    const parts = [...lines, ...more];
    return { sql: parts.map(({ sql }) => sql).join(' and '), values: parts.flatMap(({ values }) => values) };
  };
  if (asked === 'pending') return [all({ sql: `id not in (${DUE})`, values: [now] })];
  if (asked !== 'cancelled') return [all()];
  // They are few: found by their time, and by nothing else.
  const others = conditions
    .filter(({ column }) => column !== 'status')
    .map((condition) => ({ sql: unindexed(condition), values: [condition.value] }));
  const due = [...others, { sql: `id in (${DUE})`, values: [now] }];
  return [
    all(),
    { sql: due.map(({ sql }) => sql).join(' and '), values: due.flatMap(({ values }) => values) },
  ];
}

/** Payments newest first, created before the one with the id `before`. What is pending past `now` counts as cancelled, as `asOf` shows it. */
export async function searchPayments(
  database: Reader,
  filter: SearchFilter,
  before: string | undefined,
  limit: number,
  now: number,
): Promise<Payment[]> {
  const bounds = [
    before ?? '~',
    ...(filter.to === undefined ? [] : [timeOrderedFloor(PAYMENT_ID_PREFIX, filter.to)]),
  ];
  const values: Value[] = [bounds.sort()[0]!];
  if (filter.from !== undefined) values.push(timeOrderedFloor(PAYMENT_ID_PREFIX, filter.from));
  const within = `id < ? ${filter.from === undefined ? '' : 'and id >= ?'}`;
  const statements = branchesOf(filter).flatMap((branch) => statementsOf(branch, filter.status, now));
  // Ids first, out of an index alone where it holds what is asked: SQLite would rather walk the wide rows in their own order.
  const selects = statements.map(
    ({ sql }, index) =>
      `select * from (select id from payments where ${sql === '' ? '' : `${sql} and`} ${within}
       order by id desc limit ? + 0) as branch${index}`,
  );
  return database.query<Payment>(
    `select ${COLUMNS} from payments where id in (${selects.join(' union all ')}) order by id desc limit ? + 0`,
    ...statements.flatMap((statement) => [...statement.values, ...values, limit]),
    limit,
  );
}

/** Payments whose ids lie from `low` to before `high`, as far as their references need. */
export function idsBetween(
  database: Reader,
  low: string,
  high: string,
): Promise<Pick<Payment, 'id' | 'salt'>[]> {
  return database.query('select id, salt from payments where id >= ? and id < ? order by id', low, high);
}
