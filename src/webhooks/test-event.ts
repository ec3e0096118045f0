// Sends a test event to an endpoint and answers with what came back. Nothing of it is stored.
import { z } from 'zod';
import { randomId } from '../lib/ids.ts';
import { formatTimestamp, machineTime, SECOND_MS } from '../lib/time.ts';
import { type AttemptOutcome, attemptDelivery } from './attempt.ts';
import type { Sending } from './deliver.ts';
import type { Endpoint } from './endpoint.ts';
import { signingSecrets } from './secret.ts';

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
