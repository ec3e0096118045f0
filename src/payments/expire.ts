// The sweeper: stores that overdue payments are cancelled. Reads show it before, by the time alone.
import type { Journal } from '../journal/journal.ts';
import type { Transaction } from '../journal/transaction.ts';
import { type Logger, Outage } from '../lib/log.ts';
import { type Clock, HOUR_MS, SECOND_MS } from '../lib/time.ts';
import { forgetOldAnswers } from './idempotency.ts';
import { MOVES } from './payment.ts';
import { findDuePayments, findPayment, movePayment } from './queries.ts';
import { isPaymentAsRecorded, recordPayment } from './transition.ts';

const SWEEP_EVERY_MS = SECOND_MS;
const FORGET_EVERY_MS = HOUR_MS;
const SWEEP_MAXIMUM = 200;

/**
 * Cancels up to 200 payments whose time has passed. Returns how many. Each is a work of its own, since a statement for all of
 * them would lock rows in an order of its own, and two nodes' sweepers would wait for each other.
 */
export async function expireDuePayments(journal: Journal): Promise<number> {
  const due = await journal.commit((transaction) => {
    transaction.glance();
    return findDuePayments(transaction, SWEEP_MAXIMUM);
  });
  const expired = await Promise.all(
    due.map(({ id }) => journal.commit((transaction) => expireDuePayment(transaction, id), id)),
  );
  return expired.filter(Boolean).length;
}

/**
 * Cancels a payment whose time has passed. Returns false if it is not due, another node was quicker, or it was changed outside the
 * service.
 */
export async function expireDuePayment(transaction: Transaction, id: string): Promise<boolean> {
  const pending = await findPayment(transaction, id);
  if (pending?.status !== 'pending' || !(await isPaymentAsRecorded(transaction, pending))) return false;
  const written = { status_reason: 'expired', updated_at: pending.expires_at } as const;
  const guard = { is: { version: pending.version } };
  const payment = await movePayment(transaction, 'expire', id, guard, written);
  if (!payment) return false;
  const act = { actor: 'clock', request_id: null };
  await recordPayment(transaction, act, 'payment.cancelled', pending, payment, {
    from: MOVES.expire.from[0],
    reason: 'expired',
  });
  return true;
}

export interface Sweeper {
  /** `finishedAt`: when the last round ended well, milliseconds since 1970. */
  readonly counters: { expired: number; finishedAt: number | undefined };
  stop(): Promise<void>;
}

/** Runs the sweeper each second until stopped. A round that fails is tried again by the next, and logged once until one succeeds. */
export function startSweeper(journal: Journal, clock: Clock, log: Logger): Sweeper {
  const counters: Sweeper['counters'] = { expired: 0, finishedAt: undefined };
  const outage = new Outage({ log, fails: 'the sweeper will try again', works: 'the sweeper works again' });
  let round: Promise<void> | undefined;
  let sinceForgotten = FORGET_EVERY_MS;
  let stopping = false;

  async function work(): Promise<void> {
    let expired: number;
    do {
      expired = await expireDuePayments(journal);
      counters.expired += expired;
    } while (!stopping && expired > 0);
    counters.finishedAt = clock.now();
    sinceForgotten += SWEEP_EVERY_MS;
    if (sinceForgotten < FORGET_EVERY_MS) return;
    while (!stopping && (await forgetOldAnswers(journal)) > 0) {}
    if (!stopping) sinceForgotten = 0;
  }

  const timer = setInterval(() => {
    round ??= outage.tried(work).finally(() => (round = undefined));
  }, SWEEP_EVERY_MS);
  return {
    counters,
    async stop() {
      stopping = true; // a long backlog is the next start's to finish
      clearInterval(timer);
      await round;
    },
  };
}
