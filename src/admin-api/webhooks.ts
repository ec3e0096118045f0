// Webhook endpoints of all merchants under /admin: how each stands, its deliveries, and one delivery with its attempts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Reader } from '../database/database.ts';
import { API_HEADERS } from '../http/headers.ts';
import { fromCursor, LIMIT, listSchema, listText, QueryReader, toCursor } from '../http/list.ts';
import { OperationalError } from '../lib/errors.ts';
import { textFault } from '../lib/text.ts';
import { endpointNotFound } from '../webhooks/change.ts';
import { DELIVERY_STATUSES, type Delivery, isDeliveryId } from '../webhooks/delivery.ts';
import { attemptsOf, findAnyDelivery, listDeliveries } from '../webhooks/delivery-queries.ts';
import { ENDPOINT_STATES, type Endpoint, type EndpointState, isEndpointId } from '../webhooks/endpoint.ts';
import {
  attemptSchema,
  deliverySchema,
  endpointSchema,
  presentAttempt,
  presentDelivery,
  presentEndpoint,
} from '../webhooks/present.ts';
import { findEndpoint, findQueue, searchEndpoints } from '../webhooks/queries.ts';
import type { AdminParts } from './parts.ts';

const TEXT_MAXIMUM = 255;

const merchantEndpointSchema = endpointSchema.extend({
  merchant_id: z.string(),
  state: z.enum(ENDPOINT_STATES).describe('`failing`: the endpoint is enabled, and its last attempt failed.'),
});
export const merchantEndpointAnswerSchema = z.strictObject({ data: merchantEndpointSchema });
export const merchantEndpointListSchema = listSchema(merchantEndpointSchema);
export const merchantDeliveryListSchema = listSchema(deliverySchema);
export const merchantDeliveryAnswerSchema = z.strictObject({
  data: deliverySchema.extend({ attempts: z.array(attemptSchema) }),
});

export type WithEndpointId = { Params: { endpoint_id: string } };
export type WithDeliveryId = { Params: { delivery_id: string } };

/** The endpoint that the path names, of any merchant. Throws `not_found`. */
export async function anyEndpoint(
  database: Reader,
  { params: { endpoint_id: id } }: FastifyRequest<WithEndpointId>,
): Promise<Endpoint> {
  const endpoint = isEndpointId(id) ? await findEndpoint(database, id) : undefined;
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

/** The delivery that the path names, of any merchant. Throws `not_found`. */
export async function anyDelivery(
  database: Reader,
  { params: { delivery_id: id } }: FastifyRequest<WithDeliveryId>,
): Promise<Delivery> {
  const delivery = isDeliveryId(id) ? await findAnyDelivery(database, id) : undefined;
  if (!delivery) throw new OperationalError('not_found', 'There is no such delivery.');
  return delivery;
}

function presented(endpoint: Endpoint, failing_since: number | null): z.infer<typeof merchantEndpointSchema> {
  const failing: EndpointState = failing_since === null ? 'enabled' : 'failing';
  const { merchant_id, disabled_at } = endpoint;
  const state = disabled_at === null ? failing : 'disabled';
  return { ...presentEndpoint(endpoint, { failing_since }), merchant_id, state };
}

/** The JSON text of the answer about one endpoint. */
export async function endpointText(database: Reader, endpoint: Endpoint): Promise<string> {
  const queue = await findQueue(database, endpoint.id);
  return JSON.stringify({ data: presented(endpoint, queue?.failing_since ?? null) });
}

/** The JSON text of the answer about one delivery. */
export async function deliveryText(database: Reader, delivery: Delivery): Promise<string> {
  const attempts = await attemptsOf(database, [delivery.id]);
  const data = { ...presentDelivery(delivery, attempts), attempts: attempts.map(presentAttempt) };
  return JSON.stringify({ data });
}

/** Adds the routes to `app`, whose requests carry a principal by now. */
export function addWebhookReads(app: FastifyInstance, { database }: AdminParts): void {
  async function list(request: FastifyRequest, reply: FastifyReply) {
    const { after, limit, ...filter } = parseEndpointsQuery(request.query);
    const found = await searchEndpoints(database, filter, after, limit + 1);
    const page = found.slice(0, limit);
    reply.headers(API_HEADERS);
    return listText(
      page.map((one) => JSON.stringify(presented(one, one.failing_since))),
      found.length > limit ? toCursor(page.at(-1)!.id) : null,
    );
  }

  async function deliveries(request: FastifyRequest<WithEndpointId>, reply: FastifyReply) {
    const { before, limit, ...filter } = parseDeliveriesQuery(request.query);
    const { id } = await anyEndpoint(database, request);
    const found = await listDeliveries(database, id, filter, before, limit + 1);
    const page = found.slice(0, limit);
    const ids = page.map((delivery) => delivery.id);
    const attempts = Map.groupBy(await attemptsOf(database, ids), ({ delivery_id }) => delivery_id);
    reply.headers(API_HEADERS);
    return listText(
      page.map((delivery) => JSON.stringify(presentDelivery(delivery, attempts.get(delivery.id) ?? []))),
      found.length > limit ? toCursor(page.at(-1)!.id) : null,
    );
  }

  app.get('/webhook_endpoints', list);
  app.get(
    '/webhook_endpoints/:endpoint_id',
    async (request: FastifyRequest<WithEndpointId>, reply: FastifyReply) => {
      const text = await endpointText(database, await anyEndpoint(database, request));
      reply.headers(API_HEADERS);
      return text;
    },
  );
  app.get('/webhook_endpoints/:endpoint_id/deliveries', deliveries);
  app.get('/deliveries/:delivery_id', async (request: FastifyRequest<WithDeliveryId>, reply) => {
    const text = await deliveryText(database, await anyDelivery(database, request));
    reply.headers(API_HEADERS);
    return text;
  });
}

/** Checks the list's query. Throws `validation_failed` with every fault, and where it has a parameter that is none of these. */
function parseEndpointsQuery(query: unknown) {
  const reader = new QueryReader(query);
  const merchant_id = reader.text('merchant', (text) => textFault(text, TEXT_MAXIMUM));
  const livemode = reader.oneOf('livemode', ['true', 'false']);
  const state = reader.oneOf('state', ENDPOINT_STATES);
  const { limit, place: after } = readPage(reader, isEndpointId);
  const mode = livemode && (livemode === 'true' ? ('live' as const) : ('test' as const));
  return { merchant_id, mode, state, limit, after };
}

/** Checks the list's query likewise. */
function parseDeliveriesQuery(query: unknown) {
  const reader = new QueryReader(query);
  const status = reader.oneOf('status', DELIVERY_STATUSES);
  const payment_id = reader.text('payment_id', (text) => textFault(text, TEXT_MAXIMUM));
  const { limit, place: before } = readPage(reader, isDeliveryId);
  return { status, payment_id, limit, before };
}

/** Reads `limit` and `cursor`, the last parameters there are. Throws `validation_failed` with every fault. */
function readPage(reader: QueryReader, isId: (text: string) => boolean) {
  const limit = reader.integer('limit', 1, LIMIT.maximum) ?? LIMIT.default;
  const place = reader.cursor((cursor) => {
    const id = fromCursor(cursor);
    return id !== undefined && isId(id) ? id : undefined;
  });
  reader.refuseOthers();
  reader.end();
  return { limit, place };
}
