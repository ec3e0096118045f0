// Webhook endpoints, deliveries and attempts as they are shown, the schemas that promise so, and the requests that are sent.
import { z } from 'zod';
import { formatTimestamp, timestampOrNull } from '../lib/time.ts';
import { EVENT_TYPES, type EventType } from '../payments/events/event.ts';
import type { Reader } from '../store/database.ts';
import { listSchema, listText, pageOf } from '../web/list.ts';
import { type Description, json, jsonSchema, ref } from '../web/openapi.ts';
import { TEST_EVENT_TYPE, testEventSchema } from './deliver.ts';
import {
  type AttemptMade,
  DELIVERY_STATUSES,
  type Delivery,
  DISABLED_REASONS,
  FAILING_MAXIMUM_MS,
} from './endpoint.ts';
import { attemptsOf, type DeliveryFilter, listDeliveries, type StandingEndpoint } from './queries.ts';

const moment = z.string().describe('ISO 8601 with a numeric UTC offset.');

export const endpointSchema = z
  .strictObject({
    id: z.string().regex(/^whe_[0-9a-z]{36}$/),
    object: z.literal('webhook_endpoint'),
    livemode: z.boolean(),
    url: z.string(),
    types: z.array(z.enum(EVENT_TYPES)).nullable().describe('The event types that are sent; null for all.'),
    description: z.string().nullable(),
    status: z.enum(['enabled', 'disabled']),
    disabled_at: moment.nullable(),
    disabled_reason: z
      .enum(DISABLED_REASONS)
      .nullable()
      .describe('`gone`: your server answered 410. `failing`: no attempt succeeded for 5 days.'),
    disabled_note: z.string().nullable().describe('What the administrator who disabled it says.'),
    failing_since: moment.nullable().describe('When the first attempt since the last success failed.'),
    disables_at: moment.nullable().describe('When it is disabled if no attempt succeeds before.'),
    secret_made_at: moment,
    old_secret_until: moment.nullable().describe('Until when the secret before signs along.'),
    created_at: moment,
    updated_at: moment,
  })
  .meta({ id: 'WebhookEndpoint' });

const attemptSchema = z
  .strictObject({
    number: z.int().min(1),
    at: moment,
    outcome: z.enum(['delivered', 'failed']),
    status: z.int().nullable().describe('The HTTP status your server answered; null without an answer.'),
    ms: z.int().min(0).describe('How long the attempt took, in milliseconds.'),
    reason: z.string().describe('What happened, such as `Your server answered 500 in 212 ms`.'),
    reply: z.string().nullable().describe('What your server answered, at most 4 KiB.'),
  })
  .meta({ id: 'Attempt' });

export const deliverySchema = z
  .strictObject({
    id: z.string().regex(/^dlv_[0-9a-z]{36}$/),
    object: z.literal('delivery'),
    endpoint_id: z.string(),
    event_id: z.string(),
    event_type: z.enum(EVENT_TYPES),
    payment_id: z.string(),
    status: z
      .enum(DELIVERY_STATUSES)
      .describe(
        '`pending`: no attempt yet. `retrying`: the last attempt failed. `failed`: no further attempt.',
      ),
    created_at: moment,
    next_attempt_at: moment.nullable(),
    attempt_count: z.int().min(0),
    last_attempt: attemptSchema.nullable(),
  })
  .meta({ id: 'Delivery' });

const wholeDeliverySchema = deliverySchema
  .extend({ attempts: z.array(attemptSchema) })
  .meta({ id: 'WholeDelivery' });

/** The answers about a delivery, and about a page of them, by their names in the document. */
export const DELIVERY_ANSWER = ['DeliveryAnswer', z.strictObject({ data: wholeDeliverySchema })] as const;
export const DELIVERY_LIST = ['DeliveryList', listSchema(deliverySchema)] as const;

/** An endpoint as it is shown, without its secret. */
export function presentEndpoint(endpoint: StandingEndpoint): z.infer<typeof endpointSchema> {
  const { mode, types, disabled_at, failing_since, secret_made_at, old_secret_until } = endpoint;
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    livemode: mode === 'live',
    url: endpoint.url,
    types: types === null ? null : JSON.parse(types),
    description: endpoint.description,
    status: disabled_at === null ? 'enabled' : 'disabled',
    disabled_at: timestampOrNull(disabled_at),
    disabled_reason: endpoint.disabled_reason,
    disabled_note: endpoint.disabled_note,
    failing_since: timestampOrNull(failing_since),
    disables_at: timestampOrNull(disablesAt(endpoint)),
    secret_made_at: formatTimestamp(secret_made_at),
    old_secret_until: timestampOrNull(old_secret_until),
    created_at: formatTimestamp(endpoint.created_at),
    updated_at: formatTimestamp(endpoint.updated_at),
  };
}

/** When an endpoint is disabled if no attempt succeeds before, in milliseconds since 1970; null if it does not fail. */
export const disablesAt = ({ failing_since }: Pick<StandingEndpoint, 'failing_since'>): number | null =>
  failing_since === null ? null : failing_since + FAILING_MAXIMUM_MS;

/** A delivery as it is shown, with the last of its attempts. */
export function presentDelivery(
  delivery: Delivery,
  attempts: readonly AttemptMade[],
): z.infer<typeof deliverySchema> {
  const last = attempts.at(-1);
  return {
    id: delivery.id,
    object: 'delivery',
    endpoint_id: delivery.endpoint_id,
    event_id: delivery.event_id,
    event_type: delivery.type,
    payment_id: delivery.payment_id,
    status: delivery.status,
    created_at: formatTimestamp(delivery.created_at),
    next_attempt_at: timestampOrNull(delivery.due_at),
    attempt_count: delivery.attempts,
    last_attempt: last ? presentAttempt(last) : null,
  };
}

function presentAttempt(made: AttemptMade): z.infer<typeof attemptSchema> {
  const { number, at, outcome, status, ms, reason, reply } = made;
  return { number, at: formatTimestamp(at), outcome, status, ms, reason, reply };
}

/** The JSON text of a page of an endpoint's deliveries. */
export async function deliveriesText(
  database: Reader,
  endpointId: string,
  { limit, cursor, ...filter }: { limit: number; cursor: string | undefined } & DeliveryFilter,
): Promise<string> {
  const { page, next } = pageOf(await listDeliveries(database, endpointId, filter, cursor, limit + 1), limit);
  const ids = page.map(({ id }) => id);
  const attempts = Map.groupBy(await attemptsOf(database, ids), ({ delivery_id }) => delivery_id);
  const items = page.map((one) => JSON.stringify(presentDelivery(one, attempts.get(one.id) ?? [])));
  return listText(items, next);
}

/** The JSON text of the answer about a delivery, with all its attempts. */
export async function deliveryText(database: Reader, delivery: Delivery): Promise<string> {
  const attempts = await attemptsOf(database, [delivery.id]);
  const data: z.infer<typeof wholeDeliverySchema> = {
    ...presentDelivery(delivery, attempts),
    attempts: attempts.map(presentAttempt),
  };
  return JSON.stringify({ data });
}

const signed = (name: string, description: string) => ({
  ...{ name, in: 'header', required: true, description },
  schema: { type: 'string' },
});

function sent(type: EventType | typeof TEST_EVENT_TYPE) {
  const isTest = type === TEST_EVENT_TYPE;
  const schema = isTest
    ? ref('TestEvent')
    : { allOf: [ref('Event'), { properties: { type: { const: type } } }] };
  return {
    post: {
      operationId: `sent_${type.replace('.', '_')}`,
      summary: isTest ? 'A test event, sent when somebody asks for one' : `An event of type ${type}`,
      description:
        'Signed as Standard Webhooks 1.0.0 says, with HMAC-SHA256. Verify the signature over the bytes of the body before they are parsed. An event may come more than once, and events may come in another order.',
      security: [],
      parameters: [
        signed('webhook-id', 'The id of the event: the same at each attempt.'),
        signed('webhook-timestamp', 'When the attempt began, in seconds since 1970.'),
        signed(
          'webhook-signature',
          'One signature for each secret, separated by spaces: `v1,` and base64 of the HMAC-SHA256 over `webhook-id.webhook-timestamp.body`.',
        ),
      ],
      requestBody: { required: true, ...json(schema) },
      responses: {
        '2XX': { description: 'The endpoint has taken the event.' },
        410: { description: 'The endpoint is gone: it is disabled.' },
        default: {
          description:
            'The event is sent again later, also after a redirect. `Retry-After` is heeded up to 24 hours.',
        },
      },
    },
  };
}

export const sentDescription = (): Description => ({
  paths: {},
  webhooks: Object.fromEntries(
    ([...EVENT_TYPES, TEST_EVENT_TYPE] as const).map((type) => [type, sent(type)]),
  ),
  schemas: { TestEvent: jsonSchema(testEventSchema, 'output') },
});
