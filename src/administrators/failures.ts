// Failed attempts to sign in, counted in the history itself: on all nodes, for addresses known and unknown alike.
import type { Database, Queryable } from '../database/database.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction } from '../journal/transaction.ts';
import { sha256Hex } from '../lib/secrets.ts';
import { type Clock, MINUTE_MS } from '../lib/time.ts';
import type { Administrator } from './administrator.ts';
import { isRightPassword } from './password.ts';
import { momentsOf } from './queries.ts';

/** What signing in works with. */
export interface Parts {
  database: Database;
  journal: Journal;
  clock: Clock;
}

const FAILURES_MAXIMUM = 5;
const FAILURES_WITHIN_MS = 15 * MINUTE_MS;
const FAILED = 'sign_in.failed';
/** Hexadecimal digits of an address's digest: 65,536 kinds of address, so that the history tells nobody's. */
const BUCKET_DIGITS = 4;

/** An e-mail address as it is kept and compared. */
export function plainEmail(typed: string): string {
  return typed.trim().toLowerCase();
}

function subjectOf(email: string): string {
  return `sign_in:${sha256Hex(email).slice(0, BUCKET_DIGITS)}`;
}

/** Until when nobody may try to sign in with `email` any more, in milliseconds since 1970; nothing where they may. */
export async function throttledUntil(
  database: Pick<Queryable, 'query'>,
  email: string,
  now: number,
): Promise<number | undefined> {
  const since = now - FAILURES_WITHIN_MS;
  const failures = await momentsOf(database, subjectOf(email), FAILED, since, FAILURES_MAXIMUM);
  return failures.length < FAILURES_MAXIMUM ? undefined : failures.at(-1)! + FAILURES_WITHIN_MS;
}

/** Records that somebody failed to prove that they are the one with `email`, whoever that is. */
export function recordFailure(
  transaction: Transaction,
  email: string,
  proof: 'password' | 'second_factor',
  requestId: string | null,
): void {
  transaction.record({
    actor: 'anonymous',
    action: FAILED,
    subject: subjectOf(email),
    request_id: requestId,
    facts: { proof },
  });
}

export type PasswordRefusal = { refused: 'wrong' } | { refused: 'throttled'; until: number };

/**
 * Whether `password` is the one of `administrator`, who has `email`; nothing where it is, after the same time whether they
 * exist or not. A failure is on disk when this answers. Raises `unavailable`, `DatabaseError`.
 */
export async function passwordRefusal(
  { database, journal, clock }: Parts,
  email: string,
  administrator: Administrator | undefined,
  password: string,
  requestId: string | null,
): Promise<PasswordRefusal | undefined> {
  const refusal = async (): Promise<PasswordRefusal | undefined> => {
    const until = await throttledUntil(database, email, clock.now());
    return until === undefined ? undefined : { refused: 'throttled', until };
  };
  const before = await refusal();
  if (before) return before;
  const isRight = await isRightPassword(administrator?.password ?? null, password);
  // Again, right or wrong: whoever sends many at once must not learn which of those behind the fifth was right.
  const meanwhile = await refusal();
  if (meanwhile) return meanwhile;
  if (isRight && administrator?.disabled_at === null) return undefined;
  await journal.commit((transaction) => recordFailure(transaction, email, 'password', requestId));
  return { refused: 'wrong' };
}
