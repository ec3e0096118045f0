// The webhook endpoints' endpoints under /v1: a merchant creates, reads, changes, tests and deletes those of its key's mode.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Journal } from '../../journal/journal.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { OperationalError } from '../../lib/errors.ts';
import { checked } from '../../merchants/api/api-key-requests.ts';
import {
  type AnswerOnce,
  actOf,
  checkIdempotencyKey,
  tenantOf,
  withIdempotencyKeyChecked,
} from '../../payments/api/once.ts';
import type { EventType } from '../../payments/events/event.ts';
import type { Reader } from '../../store/database.ts';
import { bodyOf, ignoreBody, takeJson } from '../../web/json-body.ts';
import { listSchema, listText } from '../../web/list.ts';
import { wholeSeconds } from '../../web/throttle.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  endpointNotFound,
  rotateSecret,
} from '../change.ts';
import type { Sending } from '../deliver.ts';
import { type Endpoint, isEndpointId } from '../endpoint.ts';
import { testThrottle } from '../limits.ts';
import { endpointSchema, presentEndpoint } from '../present.ts';
import { findEndpoint, findQueue, listEndpoints, queuesOf } from '../queries.ts';
import { openSecret } from '../secret.ts';
import { sendTestEvent } from '../test-event.ts';
import { endpointChangeSchema, endpointRequestSchema } from './webhook-requests.ts';

const secret = z
  .string()
  .nullable()
  .describe('`whsec_…`. Null where the answer is given again for an `Idempotency-Key`: who lost it rotates.');
export const endpointAnswerSchema = z.strictObject({ data: endpointSchema });
export const newEndpointAnswerSchema = z.strictObject({
  data: endpointSchema.extend({ secret }).meta({ id: 'NewWebhookEndpoint' }),
});
export const endpointListSchema = listSchema(endpointSchema);
export const deletedEndpointAnswerSchema = z.strictObject({
  data: z.strictObject({
    id: z.string(),
    object: z.literal('webhook_endpoint'),
    deleted: z.literal(true),
  }),
});
export const testAnswerSchema = z.strictObject({
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

export type WithEndpoint = { Params: { endpoint_id: string } };

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

async function shown(database: Reader, endpoint: Endpoint) {
  return presentEndpoint(endpoint, await findQueue(database, endpoint.id));
}

/** Adds the routes to `app`, whose requests carry a caller by now. */
export function addWebhookRoutes(app: FastifyInstance, parts: WebhookRoutes, once: AnswerOnce): void {
  const { database } = parts;

  async function list(request: FastifyRequest) {
    const endpoints = await listEndpoints(database, tenantOf(request));
    const queues = await queuesOf(
      database,
      endpoints.map(({ id }) => id),
    );
    const items = endpoints.map((one) =>
      presentEndpoint(
        one,
        queues.find(({ endpoint_id }) => endpoint_id === one.id),
      ),
    );
    return listText(
      items.map((item) => JSON.stringify(item)),
      null,
    );
  }

  async function read(request: FastifyRequest<WithEndpoint>) {
    const data = await shown(database, await foundEndpoint(database, request));
    return JSON.stringify({ data });
  }

  async function remove(request: FastifyRequest<WithEndpoint>) {
    const { id } = await foundEndpoint(database, request);
    await parts.journal.commit((transaction) => deleteEndpoint(transaction, id, actOf(request)), id);
    return JSON.stringify({ data: { id, object: 'webhook_endpoint', deleted: true } });
  }

  app.get('/webhook_endpoints', list);
  app.get('/webhook_endpoints/:endpoint_id', read);
  app.register(async (scope) => {
    ignoreBody(scope);
    scope.delete('/webhook_endpoints/:endpoint_id', remove);
  });
  addChangingRoutes(app, parts, once);
  addPatchRoute(app, parts);
  addTestRoute(app, parts);
}

/** The routes that answer once for an `Idempotency-Key`. */
function addChangingRoutes(app: FastifyInstance, parts: WebhookRoutes, once: AnswerOnce): void {
  const { database, ring, webhookRules, baseUrl } = parts;
  const newEndpoint = endpointRequestSchema(webhookRules);

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

  async function create(request: FastifyRequest, reply: FastifyReply) {
    const bytes = bodyOf(request);
    const wish = withIdempotencyKeyChecked(request, () => checked(newEndpoint, bytes, request, reply));
    const { url, types, description } = wish;
    const row = { url, types: typesText(types), description: description ?? null };
    const make = (transaction: Transaction) =>
      createEndpoint(transaction, ring, tenantOf(request), row, actOf(request));
    const route = 'POST /v1/webhook_endpoints';
    const body = await answerOnceWith(request, reply, { route, body: bytes }, 201, make);
    reply.header('location', `${baseUrl}/v1/webhook_endpoints/${JSON.parse(body).data.id}`);
    return body;
  }

  async function rotate(request: FastifyRequest<WithEndpoint>, reply: FastifyReply) {
    checkIdempotencyKey(request);
    const { id } = await foundEndpoint(database, request);
    const make = (transaction: Transaction) => rotateSecret(transaction, ring, id, actOf(request));
    const route = 'POST /v1/webhook_endpoints/:endpoint_id/rotate_secret';
    return answerOnceWith(request, reply, { route, body: id, row: id }, 200, make);
  }

  app.register(async (scope) => {
    takeJson(scope);
    scope.post('/webhook_endpoints', create);
  });
  app.register(async (scope) => {
    ignoreBody(scope);
    scope.post('/webhook_endpoints/:endpoint_id/rotate_secret', rotate);
  });
}

/** The route that changes one. */
function addPatchRoute(app: FastifyInstance, { database, journal, webhookRules }: WebhookRoutes): void {
  const changes = endpointChangeSchema(webhookRules);

  async function patch(request: FastifyRequest<WithEndpoint>, reply: FastifyReply) {
    const { url, status, types, description } = checked(changes, bodyOf(request), request, reply);
    const { id } = await foundEndpoint(database, request);
    const wish = {
      ...(url != null && { url }),
      ...(types !== undefined && { types: typesText(types) }),
      ...(description !== undefined && { description }),
    };
    const data = await journal.commit(async (transaction) => {
      const act = actOf(request);
      let endpoint = await foundEndpoint(transaction, request);
      if (Object.keys(wish).length > 0) endpoint = await changeEndpoint(transaction, id, wish, act);
      if (status === 'enabled') endpoint = await enableEndpoint(transaction, id, act);
      if (status === 'disabled') endpoint = await disableEndpoint(transaction, id, 'merchant', act);
      return shown(transaction, endpoint);
    }, id);
    return JSON.stringify({ data });
  }

  app.register(async (scope) => {
    takeJson(scope);
    scope.patch('/webhook_endpoints/:endpoint_id', patch);
  });
}

const typesText = (types: readonly EventType[] | null | undefined) =>
  types == null ? null : JSON.stringify([...new Set(types)]);

/** One test of an endpoint at a time, because each holds a connection to the server of the endpoint. */
function addTestRoute(app: FastifyInstance, parts: WebhookRoutes): void {
  const testing = new Set<string>();
  const tests = testThrottle(parts.clock);

  async function test(request: FastifyRequest<WithEndpoint>) {
    const endpoint = await foundEndpoint(parts.database, request);
    const { id } = endpoint;
    if (endpoint.secret === null)
      throw new OperationalError('invalid_status', 'The secret of the endpoint is lost: make a new one.');
    if (testing.has(id)) throw new OperationalError('conflict', 'A test of this endpoint runs already.');
    const waitMs = tests.count(endpoint);
    if (waitMs > 0)
      throw new OperationalError('rate_limited', 'Too many test events were sent to this host.', {
        retryAfterS: wholeSeconds(waitMs),
      });
    testing.add(id);
    try {
      const sent = await sendTestEvent({ ...parts, rules: parts.webhookRules }, endpoint);
      const { event_id, ok: delivered, status, reason, reply: text } = sent;
      const what = { object: 'test_delivery', event_id, delivered, status };
      return JSON.stringify({ data: { ...what, ms: Math.round(sent.ms), reason, reply: text } });
    } finally {
      testing.delete(id);
    }
  }

  app.register(async (scope) => {
    ignoreBody(scope);
    scope.post('/webhook_endpoints/:endpoint_id/test', test);
  });
}
