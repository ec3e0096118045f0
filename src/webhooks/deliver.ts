// One attempt of a delivery: sends the event as the history tells it, and writes down what came of it.

import type { KeyRing } from '../journal/keys/key-ring.ts';
import type { Transaction } from '../journal/transaction.ts';
import { type Clock, machineTime } from '../lib/time.ts';
import { presentEvent } from '../payments/events/event.ts';
import type { Database } from '../store/database.ts';
import type { AddressRules } from './addresses.ts';
import { type AttemptOutcome, attemptDelivery } from './attempt.ts';
import { disableEndpoint } from './change.ts';
import { type Delivery, type DeliveryStatus, delayAfter, FAILING_MAXIMUM_MS } from './delivery.ts';
import { noteAttempt } from './delivery-queries.ts';
import type { DueDelivery } from './due.ts';
import { type Endpoint, takes } from './endpoint.ts';
import { findEndpoint, noteAnswer } from './queries.ts';
import { signingSecrets } from './secret.ts';

export interface Sending {
  database: Database;
  clock: Clock;
  ring: KeyRing;
  rules: AddressRules;
  /** Whether an endpoint that never answered with success is sent a few attempts a minute. */
  hasTrials: boolean;
}

interface Attempted {
  outcome: AttemptOutcome;
  at: number;
}

const ACT = { actor: 'clock', request_id: null };

/** An event that cannot be sent any more, because the store was changed from outside. */
const UNTOLD: AttemptOutcome = {
  ok: false,
  status: null,
  ms: 0,
  reason: 'The event is not in the history any more',
  reply: null,
  retryAfterMs: null,
  gone: false,
};

/**
 * Sends a delivery once, signed with the secrets of every endpoint that has the URL and takes the event. Returns what came of it, and when
 * it began. Throws the reason of `signal`.
 */
export async function attempt(
  { clock, ring, rules }: Sending,
  endpoint: Endpoint,
  { delivery, event, others }: DueDelivery,
  signal?: AbortSignal,
): Promise<Attempted> {
  const at = clock.now();
  const { url } = endpoint;
  const signing = [endpoint, ...others.filter((other) => takes(other, delivery.type))];
  const secrets = signing.flatMap((one) => signingSecrets(ring, one, at));
  const outcome = event
    ? await attemptDelivery(
        { url, id: delivery.event_id, body: presentEvent(event), secrets, at: machineTime(clock) },
        rules,
        signal,
      )
    : UNTOLD;
  if (!outcome.ok) signal?.throwIfAborted();
  return { outcome, at };
}

/** What an attempt led to. */
export interface AttemptNoted {
  status: Exclude<DeliveryStatus, 'pending'>;
  /** Why it disabled the endpoint; null if it did not. */
  disabled: 'gone' | 'failing' | null;
}

/** Writes what came of an attempt, and disables an endpoint that is gone or has failed for too long. */
export async function noteAttempted(
  transaction: Transaction,
  { url }: Endpoint,
  delivery: Delivery,
  { outcome, at }: Attempted,
): Promise<AttemptNoted> {
  const { id, endpoint_id, event_id } = delivery;
  const { ok, status, ms, reason, reply, retryAfterMs, gone } = outcome;
  const attempts = delivery.attempts + 1;
  const tries = ok ? 0 : delivery.tries + 1;
  const delay = ok ? undefined : delayAfter(tries, Math.random(), retryAfterMs);
  const isFinal = !ok && delay === undefined;
  const after = {
    attempts,
    tries,
    status: ok ? 'delivered' : isFinal ? 'failed' : 'retrying',
    due_at: delay === undefined ? null : transaction.now + delay,
  } as const;
  const result = ok ? 'delivered' : 'failed';
  await noteAttempt(transaction, delivery, after, {
    ...{ delivery_id: id, number: attempts, at, outcome: result },
    ...{ ms: Math.round(ms), status, reason, reply },
  });
  if (isFinal)
    transaction.record({
      ...ACT,
      action: 'webhook.delivery_failed',
      subject: id,
      facts: { endpoint: endpoint_id, event: event_id, attempts, status },
    });
  const noted = { status: after.status, disabled: null };
  const failingSince = await noteAnswer(transaction, endpoint_id, ok, ok ? url : null);
  if (ok || failingSince === null) return noted;
  const isFailing = transaction.now - failingSince >= FAILING_MAXIMUM_MS;
  if (!gone && !isFailing) return noted;
  if ((await findEndpoint(transaction, endpoint_id))?.disabled_at !== null) return noted;
  const disabled = gone ? 'gone' : 'failing';
  await disableEndpoint(transaction, endpoint_id, disabled, ACT);
  return { ...noted, disabled };
}
