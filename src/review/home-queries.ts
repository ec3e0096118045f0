// The SQL of the console's first page: what was decided between two moments, and last of all.

import type { Payment, Status } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';
import { decisionOf } from './review.ts';

/** A decision: of which payment, when (milliseconds since 1970) and by which administrator. */
export interface LastDecision {
  payment: string;
  status: Status;
  at: number;
  by: string | null;
}

/** How many payments were decided from one moment to before another, milliseconds since 1970. */
export async function decidedBetween(
  database: Reader,
  from: number,
  to: number,
): Promise<{ approved: number; rejected: number }> {
  const rows = await database.query<{ status: Status; count: number }>(
    `select status, count(*) as count from payments where decided_at >= ? and decided_at < ? and decided_at is not null
     group by status`,
    from,
    to,
  );
  const count = (status: Status) => rows.find((row) => row.status === status)?.count ?? 0;
  return { approved: count('approved'), rejected: count('rejected') };
}

/** The newest decision, or undefined. */
export async function lastDecision(database: Reader): Promise<LastDecision | null> {
  const [last] = await database.query<Pick<Payment, 'id' | 'status' | 'decided_at' | 'review'>>(
    `select id, status, decided_at, review from payments where decided_at is not null order by decided_at desc limit 1`,
  );
  if (!last) return null;
  const by = decisionOf(last)?.by ?? null;
  return { payment: last.id, status: last.status, at: last.decided_at!, by };
}
