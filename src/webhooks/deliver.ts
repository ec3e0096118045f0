// Attempts of deliveries, which send an event as the history tells it and write down the outcome, and test events.

import { z } from 'zod';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import type { Transaction } from '../journal/transaction.ts';
import { randomId } from '../lib/ids.ts';
import { type Clock, formatTimestamp, machineTime, SECOND_MS } from '../lib/time.ts';
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
import { signingSecrets } from './signing.ts';

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

export const TEST_EVENT_TYPE = 'webhook.test';

export const testEventSchema = z
  .strictObject({
    id: z.string().describe('`evt_test_…`: of no payment, and never listed.'),
    object: z.literal('event'),
    type: z.literal(TEST_EVENT_TYPE),
    timestamp: z.string().describe('ISO 8601 with a numeric UTC offset.'),
    livemode: z.boolean(),
    data: z.strictObject({}),
  })
  .meta({ id: 'TestEvent' });

/** Less than the service takes for an answer of its own. */
const PATIENCE_MS = 7 * SECOND_MS;

/** Sends a signed test event once. Waits 7 seconds at most. */
export async function sendTestEvent(
  { clock, ring, rules }: Pick<Sending, 'clock' | 'ring' | 'rules'>,
  endpoint: Endpoint,
): Promise<AttemptOutcome & { event_id: string }> {
  const at = clock.now();
  const id = randomId('evt_test_');
  const body = JSON.stringify({
    id,
    object: 'event',
    type: TEST_EVENT_TYPE,
    timestamp: formatTimestamp(at),
    livemode: endpoint.mode === 'live',
    data: {},
  });
  const secrets = signingSecrets(ring, endpoint, at);
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    const outcome = await attemptDelivery(
      { url: endpoint.url, id, body, secrets, at: machineTime(clock) },
      rules,
      patience,
    );
    return { ...outcome, event_id: id };
  } catch (error) {
    if (!patience.aborted) throw error;
    const reason = `Your server did not answer within ${PATIENCE_MS / SECOND_MS} seconds`;
    const nothing = { status: null, reply: null, retryAfterMs: null, gone: false };
    return { ok: false, ms: PATIENCE_MS, reason, ...nothing, event_id: id };
  }
}
