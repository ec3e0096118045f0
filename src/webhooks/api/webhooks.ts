// The webhook endpoints' endpoints under /v1: a merchant creates, reads, changes, tests and deletes those of its key's mode.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Journal } from '../../journal/journal.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { OperationalError } from '../../lib/errors.ts';
import { optional, soundText } from '../../lib/faults.ts';
import { textFault } from '../../lib/text.ts';
import { type AnswerOnce, actOf, tenantOf } from '../../payments/api/once.ts';
import { EVENT_TYPES, type EventType } from '../../payments/events/event.ts';
import type { Reader } from '../../store/database.ts';
import { type ApiEndpoint, endpoint } from '../../web/endpoint.ts';
import { listSchema, listText } from '../../web/list.ts';
import { wholeSeconds } from '../../web/rate-limit.ts';
import { type AddressRules, checkUrl, URL_CHARACTERS } from '../addresses.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  endpointNotFound,
  rotateSecret,
} from '../change.ts';
import { type Sending, sendTestEvent } from '../deliver.ts';
import { ENDPOINTS_MAXIMUM, type Endpoint, isEndpointId } from '../endpoint.ts';
import { endpointSchema, presentEndpoint } from '../present.ts';
import { findEndpoint, searchEndpoints, standing } from '../queries.ts';
import { testThrottle } from '../queue.ts';
import { openSecret } from '../signing.ts';

const secret = z
  .string()
  .nullable()
  .describe('`whsec_…`. Null where the answer is given again for an `Idempotency-Key`: who lost it rotates.');
const endpointAnswerSchema = z.strictObject({ data: endpointSchema });
const newEndpointAnswerSchema = z.strictObject({
  data: endpointSchema.extend({ secret }).meta({ id: 'NewWebhookEndpoint' }),
});
const endpointListSchema = listSchema(endpointSchema);
const deletedEndpointAnswerSchema = z.strictObject({
  data: z.strictObject({
    id: z.string(),
    object: z.literal('webhook_endpoint'),
    deleted: z.literal(true),
  }),
});
const testAnswerSchema = z.strictObject({
  data: z.strictObject({
    object: z.literal('test_delivery'),
    event_id: z.string(),
    delivered: z.boolean(),
    status: z.int().nullable(),
    ms: z.int(),
    reason: z.string(),
    reply: z.string().nullable(),
  }),
});

export interface WebhookRoutes extends Omit<Sending, 'rules' | 'hasTrials'> {
  journal: Journal;
  baseUrl: string;
  webhookRules: Sending['rules'];
}

type WithEndpoint = { Params: { endpoint_id: string } };

/** An endpoint of the caller's merchant and mode. Throws `not_found`, in the same words whatever is wrong with the id. */
export async function foundEndpoint(
  database: Reader,
  request: FastifyRequest<WithEndpoint>,
): Promise<Endpoint> {
  const { endpoint_id } = request.params;
  const endpoint = isEndpointId(endpoint_id) ? await findEndpoint(database, endpoint_id) : undefined;
  const { merchant_id, mode } = tenantOf(request);
  if (endpoint?.merchant_id !== merchant_id || endpoint.mode !== mode) throw endpointNotFound();
  return endpoint;
}

const shown = async (database: Reader, endpoint: Endpoint) =>
  presentEndpoint(await standing(database, endpoint));

const ONE = ['WebhookEndpointAnswer', endpointAnswerSchema] as const;
const NEW = ['NewWebhookEndpointAnswer', newEndpointAnswerSchema] as const;
const LOCATION = {
  Location: { schema: { type: 'string' }, description: 'The new endpoint, without its secret.' },
};

/** The endpoints of webhook endpoints. */
export const webhookEndpoints = (parts: WebhookRoutes, once: AnswerOnce): ApiEndpoint[] => [
  ...plainEndpoints(parts),
  ...secretEndpoints(parts, once),
  changeOne(parts),
  testOne(parts),
];

/** Those that list, read and delete. */
function plainEndpoints({ database, journal }: WebhookRoutes): ApiEndpoint[] {
  return [
    endpoint('GET /v1/webhook_endpoints', {
      id: 'listWebhookEndpoints',
      summary: "List the merchant's webhook endpoints of the same mode, oldest first",
      answers: { 200: { description: 'All of them.', body: ['WebhookEndpointList', endpointListSchema] } },
      errors: [],
      async handle({ request }) {
        const endpoints = await searchEndpoints(database, tenantOf(request));
        const items = endpoints.map((one) => JSON.stringify(presentEndpoint(one)));
        return listText(items, null);
      },
    }),
    endpoint('GET /v1/webhook_endpoints/{endpoint_id}', {
      id: 'readWebhookEndpoint',
      summary: 'Read a webhook endpoint, without its secret',
      answers: { 200: { description: 'The endpoint.', body: ONE } },
      errors: ['not_found'],
      async handle({ request }) {
        const data = await shown(database, await foundEndpoint(database, request));
        return JSON.stringify({ data });
      },
    }),
    endpoint('DELETE /v1/webhook_endpoints/{endpoint_id}', {
      id: 'deleteWebhookEndpoint',
      summary: 'Delete a webhook endpoint, and what waits for it',
      answers: {
        200: { description: 'Deleted.', body: ['DeletedWebhookEndpointAnswer', deletedEndpointAnswerSchema] },
      },
      errors: ['not_found', 'conflict'],
      async handle({ request }) {
        const { id } = await foundEndpoint(database, request);
        await journal.commit((transaction) => deleteEndpoint(transaction, id, actOf(request)), id);
        return JSON.stringify({ data: { id, object: 'webhook_endpoint', deleted: true } });
      },
    }),
  ];
}

/** Those whose answers tell a secret. */
function secretEndpoints(parts: WebhookRoutes, once: AnswerOnce): ApiEndpoint[] {
  const { database, ring, webhookRules, baseUrl } = parts;

  /** Answers with what `make` leaves. The secret stands in the first answer alone, and never in the stored response. */
  async function answerOnceWith(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: Parameters<AnswerOnce>[2],
    status: number,
    make: (transaction: Transaction) => Promise<Endpoint>,
  ) {
    let made: Endpoint | undefined;
    const body = await once(request, reply, asked, async (transaction) => {
      made = await make(transaction);
      return {
        status,
        body: JSON.stringify({ data: { ...(await shown(transaction, made)), secret: null } }),
      };
    });
    if (!made || reply.hasHeader('idempotency-replayed')) return body;
    const { data } = JSON.parse(body);
    return JSON.stringify({ data: { ...data, secret: openSecret(ring, made, 'secret') } });
  }

  const create = endpoint('POST /v1/webhook_endpoints', {
    id: 'createWebhookEndpoint',
    summary: 'Add a webhook endpoint',
    description: `It gets the events from now on. A merchant has at most ${ENDPOINTS_MAXIMUM} in each mode. \`data.secret\` stands in this answer alone.`,
    body: ['WebhookEndpointRequest', endpointRequestSchema(webhookRules)],
    once: true,
    answers: { 201: { description: 'Made.', body: NEW, headers: LOCATION } },
    errors: ['conflict'],
    async handle({ request, reply, bytes, body: { url, types, description } }) {
      const row = { url, types: typesText(types), description: description ?? null };
      const make = (transaction: Transaction) =>
        createEndpoint(transaction, ring, tenantOf(request), row, actOf(request));
      const route = 'POST /v1/webhook_endpoints';
      const text = await answerOnceWith(request, reply, { route, body: bytes }, 201, make);
      reply.header('location', `${baseUrl}/v1/webhook_endpoints/${JSON.parse(text).data.id}`);
      return text;
    },
  });

  const rotate = endpoint('POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret', {
    id: 'rotateWebhookSecret',
    summary: 'Give a webhook endpoint a new secret',
    description: 'The secret before signs along for 24 hours. A request body is ignored.',
    once: true,
    answers: { 200: { description: '`data.secret` is the new one.', body: NEW } },
    errors: ['not_found', 'conflict'],
    async handle({ request, reply }) {
      const { id } = await foundEndpoint(database, request);
      const make = (transaction: Transaction) => rotateSecret(transaction, ring, id, actOf(request));
      const route = 'POST /v1/webhook_endpoints/:endpoint_id/rotate_secret';
      return answerOnceWith(request, reply, { route, body: id, row: id }, 200, make);
    },
  });
  return [create, rotate];
}

const changeOne = ({ database, journal, webhookRules }: WebhookRoutes): ApiEndpoint =>
  endpoint('PATCH /v1/webhook_endpoints/{endpoint_id}', {
    id: 'changeWebhookEndpoint',
    summary: 'Change, disable or enable a webhook endpoint',
    description: 'What is left out stays. A new URL holds for what waits already.',
    body: ['WebhookEndpointChange', endpointChangeSchema(webhookRules)],
    answers: { 200: { description: 'Changed.', body: ONE } },
    errors: ['not_found', 'invalid_status', 'conflict'],
    async handle({ request, body: { url, status, types, description } }) {
      const { id } = await foundEndpoint(database, request);
      const wish = {
        ...(url != null && { url }),
        ...(types !== undefined && { types: typesText(types) }),
        ...(description !== undefined && { description }),
      };
      const data = await journal.commit(async (transaction) => {
        const act = actOf(request);
        let changed = await foundEndpoint(transaction, request);
        if (Object.keys(wish).length > 0) changed = await changeEndpoint(transaction, id, wish, act);
        if (status === 'enabled') changed = await enableEndpoint(transaction, id, act);
        if (status === 'disabled') changed = await disableEndpoint(transaction, id, 'merchant', act);
        return shown(transaction, changed);
      }, id);
      return JSON.stringify({ data });
    },
  });

const typesText = (types: readonly EventType[] | null | undefined) =>
  types == null ? null : JSON.stringify([...new Set(types)]);

/** One test of an endpoint at a time, because each holds a connection to the server of the endpoint. */
function testOne(parts: WebhookRoutes): ApiEndpoint {
  const testing = new Set<string>();
  const tests = testThrottle(parts.clock);
  return endpoint('POST /v1/webhook_endpoints/{endpoint_id}/test', {
    id: 'testWebhookEndpoint',
    summary: 'Send a test event now and see what comes back',
    description:
      'Sends an event of type `webhook.test` with empty `data`, signed as every event, once, also to a disabled endpoint. Waits 7 seconds at most. Each request sends one: no `Idempotency-Key` is heeded. A request body is ignored.',
    answers: { 200: { description: 'What came back.', body: ['WebhookTestAnswer', testAnswerSchema] } },
    errors: ['not_found', 'invalid_status', 'conflict'],
    async handle({ request }) {
      const tested = await foundEndpoint(parts.database, request);
      const { id } = tested;
      if (tested.secret === null)
        throw new OperationalError('invalid_status', 'The secret of the endpoint is lost: make a new one.');
      if (testing.has(id)) throw new OperationalError('conflict', 'A test of this endpoint runs already.');
      const waitMs = tests.count(tested);
      if (waitMs > 0)
        throw new OperationalError('rate_limited', 'Too many test events were sent to this host.', {
          retryAfterS: wholeSeconds(waitMs),
        });
      testing.add(id);
      try {
        const sent = await sendTestEvent({ ...parts, rules: parts.webhookRules }, tested);
        const { event_id, ok: delivered, status, reason, reply: text } = sent;
        const what = { object: 'test_delivery', event_id, delivered, status };
        return JSON.stringify({ data: { ...what, ms: Math.round(sent.ms), reason, reply: text } });
      } finally {
        testing.delete(id);
      }
    },
  });
}

const DESCRIPTION_MAXIMUM = 255;
const ONE_TYPE = `Must be one of ${EVENT_TYPES.join(', ')}.`;
const OBJECT = 'Must be a JSON object.';

const types = optional(
  z
    .array(z.enum(EVENT_TYPES, ONE_TYPE), 'Must be a list of event types.')
    .min(1, 'Must name at least one event type.')
    .max(EVENT_TYPES.length, 'Must name each event type once.'),
).describe('The event types to send. `null`, or left out: all, also those that come later.');

const description = optional(
  soundText(DESCRIPTION_MAXIMUM, (text) => textFault(text, DESCRIPTION_MAXIMUM)),
).describe('What the endpoint is for, in your words.');

const urlOf = (rules: AddressRules) =>
  soundText(URL_CHARACTERS, (url) => checkUrl(url, rules)).describe(
    'Where events are sent: an https URL with a host name, on port 443 or one that the operator allows.',
  );

/** `POST /v1/webhook_endpoints`. */
const endpointRequestSchema = (rules: AddressRules) =>
  z.object({ url: urlOf(rules), types, description }, OBJECT);

/** `PATCH /v1/webhook_endpoints/{id}`. What is left out stays. */
const endpointChangeSchema = (rules: AddressRules) =>
  z.object(
    {
      url: optional(urlOf(rules)),
      types,
      description,
      status: optional(z.enum(['enabled', 'disabled'], 'Must be enabled or disabled.')).describe(
        'An endpoint that is enabled again gets what happened while it was disabled.',
      ),
    },
    OBJECT,
  );
