// Attempts of deliveries, deliveries that are sent again, and test events.
import { z } from 'zod';
import type { Act } from '../journal/audit-entry.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { newestEntry } from '../journal/queries.ts';
import { lastBefore } from '../journal/search.ts';
import type { Transaction } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import { randomId } from '../lib/ids.ts';
import { phrase } from '../lib/phrases.ts';
import { type Clock, DAY_MS, formatTimestamp, machineTime, SECOND_MS } from '../lib/time.ts';
import { presentEvent } from '../payments/events/event.ts';
import type { Database } from '../store/database.ts';
import type { AddressRules } from './addresses.ts';
import { type AttemptOutcome, attemptDelivery, UNANSWERED } from './attempt.ts';
import { change, disableEndpoint } from './change.ts';
import {
  DELIVERIES_KEPT_MS,
  type Delivery,
  type DeliveryStatus,
  delayAfter,
  type Endpoint,
  FAILING_MAXIMUM_MS,
  takes,
} from './endpoint.ts';
import { dueNow, failedDueNow, findEndpoint, moveBack, noteAnswer, noteAttempt } from './queries.ts';
import type { DueDelivery } from './queue.ts';
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
  ...UNANSWERED,
  ms: 0,
  reason: 'The event is not in the history any more',
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
  const { ok, status, ms, reason, reply, retryAfterMs } = outcome;
  const gone = status === 410;
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
    return { ...UNANSWERED, ms: PATIENCE_MS, reason, event_id: id };
  }
}

export const RESENDS = ['failed', 'missing'] as const;
export type Resend = (typeof RESENDS)[number];

/** The body of a request that has an endpoint sent again what it did not take. `now` in milliseconds since 1970. */
export const resendRequestSchema = (now: () => number) =>
  z.object(
    {
      what: z
        .enum(RESENDS, `Must be one of ${RESENDS.join(', ')}.`)
        .describe(
          '`failed`: deliveries whose last attempt failed. `missing`: events that were never queued for the endpoint.',
        ),
      since: z.iso
        .datetime({ offset: true, message: 'Must be an RFC 3339 time with an offset.' })
        .check(({ value, issues }) => {
          const at = Date.parse(value);
          const isWithin = at <= now() && at >= now() - DELIVERIES_KEPT_MS;
          const message = `Must be within the last ${DELIVERIES_KEPT_MS / DAY_MS} days.`;
          if (!isWithin) issues.push({ code: 'custom', message, input: value });
        })
        .describe('From when on: an RFC 3339 time within the last 30 days.'),
    },
    'Must be a JSON object.',
  );

export const resendAnswerSchema = z.strictObject({
  data: z.strictObject({
    object: z.literal('resend'),
    what: z.enum(RESENDS),
    since: z.string(),
    deliveries: z
      .int()
      .nullable()
      .describe(
        'How many deliveries are due now, up to 1,000: ask again while it is 1,000. Null for `missing`.',
      ),
  }),
});

/** What `resend` came to, as it is shown. */
export const presentResend = (
  what: Resend,
  since: number,
  deliveries: number | null,
): z.infer<typeof resendAnswerSchema>['data'] => ({
  object: 'resend',
  what,
  since: formatTimestamp(since),
  deliveries,
});

/** Makes a delivery due now. Throws `invalid_status` if its endpoint is disabled. */
export async function resendDelivery(transaction: Transaction, delivery: Delivery): Promise<Delivery> {
  await requireEnabled(transaction, delivery.endpoint_id);
  return (await dueNow(transaction, delivery.id)) ?? delivery;
}

/**
 * Sends again what an endpoint did not take since `since` (milliseconds since 1970). `failed`: deliveries whose last attempt failed,
 * up to 1,000 at once. `missing`: events that have no delivery, for example because they are older than the endpoint. They begin
 * a minute before `since`, because the node that wrote an event may have a clock that is behind. Returns how
 * many deliveries are due; null for `missing`, which the worker counts. Throws `not_found` and `invalid_status`.
 */
export async function resend(
  transaction: Transaction,
  id: string,
  what: Resend,
  since: number,
  act: Act,
): Promise<number | null> {
  await requireEnabled(transaction, id);
  let deliveries: number | null = null;
  if (what === 'failed') deliveries = await failedDueNow(transaction, id, since);
  else await moveBack(transaction, id, await lastBefore(transaction, since, await newestEntry(transaction)));
  await change(transaction, id, act, 'webhook.resent', () => ({}), { what, since: formatTimestamp(since) });
  return deliveries;
}

async function requireEnabled(transaction: Transaction, id: string): Promise<void> {
  const endpoint = await findEndpoint(transaction, id);
  if (endpoint && endpoint.disabled_at !== null)
    throw new OperationalError('invalid_status', phrase('The endpoint is disabled: enable it first.'));
}
