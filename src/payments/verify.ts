// Holds payments and kept answers against the history: each row as its last entry says it is, none missing, none extra.
import { rowDigest } from '../journal/audit-entry.ts';
import { entriesBySubject, entriesOf } from '../journal/queries.ts';
import { HistoryBroken, type RowCheck, type View } from '../journal/verify.ts';
import { ANSWER_SUBJECT_PREFIX, FORGOTTEN_SUBJECT } from './idempotency.ts';
import { PAYMENT_COLUMNS, PAYMENT_ID_PREFIX, type Payment, STATUSES, type Status } from './payment.ts';
import { answersAfter, countRows, KEPT_ANSWER_COLUMNS, type KeptAnswer, paymentsAfter } from './queries.ts';

const PAGE = 2000;
/** Sorts behind every character of an id. */
const END = '~';

/** What the history says of one subject. */
interface Told {
  subject: string;
  count: number;
  /** The status that the actions lead to. */
  status: Status | undefined;
  last: { number: number; at: number; row: unknown };
}

/** The status that an action leaves a payment in; others leave it as it is. */
const STATUS_AFTER = new Map<string, Status>([
  ['payment.created', 'pending'],
  ...STATUSES.map((status): [string, Status] => [`payment.${status}`, status]),
]);

async function* tellings(view: View, prefix: string, tick: (n: number) => void): AsyncGenerator<Told> {
  let told: Told | undefined;
  let after = { subject: prefix, number: 0 };
  for (;;) {
    const entries = await entriesBySubject(view, after, prefix + END, PAGE);
    for (const { subject, number, at, action, facts } of entries) {
      const last = { number, at, row: (JSON.parse(facts) as { row?: unknown }).row };
      if (told?.subject === subject) {
        told.count++;
        told.status = STATUS_AFTER.get(action) ?? told.status;
        told.last = last;
      } else {
        if (told) yield told;
        told = { subject, count: 1, status: STATUS_AFTER.get(action), last };
      }
      after = { subject, number };
    }
    tick(entries.length);
    if (entries.length < PAGE) break;
  }
  if (told) yield told;
}

async function* pages<R>(next: (after: R | undefined) => Promise<R[]>): AsyncGenerator<R> {
  let last: R | undefined;
  do {
    const rows = await next(last);
    yield* rows;
    last = rows.length === PAGE ? rows.at(-1) : undefined;
  } while (last);
}

interface Table<R> {
  noun: string;
  rows: AsyncGenerator<R>;
  subjectOf(row: R): string;
  columns: readonly string[];
  /** How many rows there are, counted another way than by walking them. */
  count: number;
  /** What the row says of its own history that the history says otherwise. */
  fault?(row: R, told: Told): string | undefined;
  mayBeGone?(told: Told): boolean;
}

/** Walks rows and tellings in the same order, side by side. Returns how many rows there were. */
async function compare<R extends object>(told: AsyncGenerator<Told>, table: Table<R>): Promise<number> {
  let rows = 0;
  const place = (one: Told) => ({ entry: one.last.number, subject: one.subject });
  let next = await told.next();
  const passGone = async (until: string | undefined) => {
    while (!next.done && (until === undefined || next.value.subject < until)) {
      if (!table.mayBeGone?.(next.value)) {
        throw new HistoryBroken(
          `${table.noun} ${next.value.subject} is missing, though the history speaks of it`,
          place(next.value),
        );
      }
      next = await told.next();
    }
  };
  for await (const row of table.rows) {
    const subject = table.subjectOf(row);
    await passGone(subject);
    if (next.done || next.value.subject !== subject) {
      throw new HistoryBroken(`${table.noun} ${subject} stands in no entry of the history`, { subject });
    }
    const one = next.value;
    if (one.last.row !== rowDigest(table.columns, row)) {
      throw new HistoryBroken(
        `${table.noun} ${subject} is not as entry ${one.last.number} left it`,
        place(one),
      );
    }
    const fault = table.fault?.(row, one);
    if (fault) throw new HistoryBroken(`${table.noun} ${subject} ${fault}`, place(one));
    rows++;
    next = await told.next();
  }
  await passGone(undefined);
  if (rows !== table.count)
    throw new HistoryBroken(`of ${table.count} rows that are each a ${table.noun}, ${rows} are found`, {
      subject: table.noun,
    });
  return rows;
}

export const verifyPayments: RowCheck = async (view, tick) => {
  const payments = await compare<Payment>(tellings(view, PAYMENT_ID_PREFIX, tick), {
    noun: 'payment',
    rows: pages<Payment>((last) => paymentsAfter(view, last?.id, PAGE)),
    subjectOf: (payment) => payment.id,
    columns: PAYMENT_COLUMNS,
    count: await countRows(view, 'payments'),
    fault: ({ version, status }, { count, status: told }) =>
      version !== count
        ? `counts ${version} entries, the history has ${count}`
        : status !== told
          ? `is ${status}, its entries make it ${told ?? 'nothing'}`
          : undefined,
  });
  return { payments };
};

export const verifyKeptAnswers: RowCheck = async (view, tick) => {
  // What was forgotten is rightly gone up to the latest moment that a forgetting names; nodes' clocks differ a little.
  const forgettings = await entriesOf(view, FORGOTTEN_SUBJECT);
  const until = forgettings.reduce(
    (latest, { facts }) => Math.max(latest, (JSON.parse(facts) as { until: number }).until),
    0,
  );
  const kept_answers = await compare<KeptAnswer>(tellings(view, ANSWER_SUBJECT_PREFIX, tick), {
    noun: 'kept answer',
    rows: pages<KeptAnswer>((last) => answersAfter(view, last?.scope, PAGE)),
    subjectOf: (answer) => ANSWER_SUBJECT_PREFIX + answer.scope,
    columns: KEPT_ANSWER_COLUMNS,
    count: await countRows(view, 'idempotency_keys'),
    // An erased one's last entry says that there is no row.
    mayBeGone: ({ last }) => last.row === null || last.at <= until,
  });
  return { kept_answers };
};
