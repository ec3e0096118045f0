// What the first page of the console shows: the queue, and what was decided day by day. Days that are over are remembered.
import type { Database, Queryable } from '../../../database/database.ts';
import { lastDays, MINUTE_MS } from '../../../lib/time.ts';
import type { Payment, Status } from '../../payment.ts';
import { countQueue, type QueueCount } from '../queue/queries.ts';
import { reviewActs } from '../review.ts';

type Reader = Pick<Queryable, 'query'>;

const DAYS = 30;
const SETTLING_MS = 15 * MINUTE_MS;
const LATEST = Number.MAX_SAFE_INTEGER;

/** Days that are over, for as long as their database is open: they never change. */
const REMEMBERED = new WeakMap<Database, Map<string, DayFigures>>();

export interface HomeFigures {
  /** The whole queue. */
  queue: QueueCount;
  today: DayFigures;
  /** The last 30 days, today the last of them. */
  days: DayFigures[];
  last_decision: { payment: string; status: Status; at: number; by: string | null } | null;
}

/** What was decided on one day, live and test payments. */
export interface DayFigures {
  /** `2026-11-20`. */
  date: string;
  approved: number;
  rejected: number;
}

/** What the first page shows; days are those of `timeZone` (IANA). `now` in milliseconds since 1970. */
export async function homeFigures(database: Database, now: number, timeZone: string): Promise<HomeFigures> {
  const remembered = daysOf(database);
  const days = lastDays(timeZone, now, DAYS);
  const figures: DayFigures[] = [];
  for (const [index, { date, start }] of days.entries()) {
    const end = days[index + 1]?.start;
    const name = `${timeZone} ${date}`;
    const known = remembered.get(name) ?? { date, ...(await decidedBetween(database, start, end ?? LATEST)) };
    // Nodes' clocks differ a little, and a commit takes its time: a day is over a while after it ended.
    if (end !== undefined && now > end + SETTLING_MS) remembered.set(name, known);
    figures.push(known);
  }
  return {
    queue: await countQueue(database, {}),
    today: figures.at(-1)!,
    days: figures,
    last_decision: await lastDecision(database),
  };
}

/** The days remembered of a database; those long past are let go. */
function daysOf(database: Database): Map<string, DayFigures> {
  let days = REMEMBERED.get(database);
  if (!days || days.size > 4 * DAYS) {
    days = new Map();
    REMEMBERED.set(database, days);
  }
  return days;
}

async function decidedBetween(database: Reader, from: number, to: number): Promise<Omit<DayFigures, 'date'>> {
  const rows = await database.query<{ status: Status; count: number }>(
    `select status, count(*) as count from payments where decided_at >= ? and decided_at < ? and decided_at is not null
     group by status`,
    from,
    to,
  );
  const count = (status: Status) => rows.find((row) => row.status === status)?.count ?? 0;
  return { approved: count('approved'), rejected: count('rejected') };
}

async function lastDecision(database: Reader): Promise<HomeFigures['last_decision']> {
  const [last] = await database.query<Pick<Payment, 'id' | 'status' | 'decided_at' | 'review'>>(
    `select id, status, decided_at, review from payments where decided_at is not null order by decided_at desc limit 1`,
  );
  if (!last) return null;
  const by = reviewActs(last).findLast(({ act }) => act !== 'note')?.by ?? null;
  return { payment: last.id, status: last.status, at: last.decided_at!, by };
}
