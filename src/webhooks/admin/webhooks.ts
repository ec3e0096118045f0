// Webhook endpoints of all merchants under /admin: how each stands, its deliveries, and one delivery with its attempts.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AdminParts } from '../../administrators/admin/parts.ts';
import { OperationalError } from '../../lib/errors.ts';
import { textFault } from '../../lib/text.ts';
import type { Reader } from '../../store/database.ts';
import { listSchema, listText, pageOf, QueryReader } from '../../web/list.ts';
import { endpointNotFound } from '../change.ts';
import { DELIVERY_STATUSES, type Delivery, isDeliveryId } from '../delivery.ts';
import { findAnyDelivery, listDeliveries } from '../delivery-queries.ts';
import { ENDPOINT_STATES, type Endpoint, type EndpointState, isEndpointId } from '../endpoint.ts';
import { endpointSchema, presentDeliveries, presentEndpoint, presentWholeDelivery } from '../present.ts';
import { findEndpoint, findQueue, searchEndpoints } from '../queries.ts';

const TEXT_MAXIMUM = 255;

const merchantEndpointSchema = endpointSchema
  .extend({
    merchant_id: z.string(),
    state: z
      .enum(ENDPOINT_STATES)
      .describe('`failing`: the endpoint is enabled, and its last attempt failed.'),
  })
  .meta({ id: 'MerchantEndpoint' });
export const merchantEndpointAnswerSchema = z.strictObject({ data: merchantEndpointSchema });
export const merchantEndpointListSchema = listSchema(merchantEndpointSchema);

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
  return JSON.stringify({ data: await presentWholeDelivery(database, delivery) });
}

/** Adds the routes to `app`, whose requests carry a principal by now. */
export function addWebhookReads(app: FastifyInstance, { database }: AdminParts): void {
  async function list(request: FastifyRequest) {
    const { after, limit, ...filter } = parseEndpointsQuery(request.query);
    const found = await searchEndpoints(database, filter, after, limit + 1);
    const { page, next } = pageOf(found, limit);
    const items = page.map((one) => JSON.stringify(presented(one, one.failing_since)));
    return listText(items, next);
  }

  async function deliveries(request: FastifyRequest<WithEndpointId>) {
    const { before, limit, ...filter } = parseDeliveriesQuery(request.query);
    const { id } = await anyEndpoint(database, request);
    const found = await listDeliveries(database, id, filter, before, limit + 1);
    const { page, next } = pageOf(found, limit);
    const shown = await presentDeliveries(database, page);
    const items = shown.map((delivery) => JSON.stringify(delivery));
    return listText(items, next);
  }

  app.get('/webhook_endpoints', list);
  app.get('/webhook_endpoints/:endpoint_id', async (request: FastifyRequest<WithEndpointId>) => {
    return await endpointText(database, await anyEndpoint(database, request));
  });
  app.get('/webhook_endpoints/:endpoint_id/deliveries', deliveries);
  app.get('/deliveries/:delivery_id', async (request: FastifyRequest<WithDeliveryId>) => {
    return await deliveryText(database, await anyDelivery(database, request));
  });
}

/** Checks the list's query. Throws `validation_failed` with every fault, and where it has a parameter that is none of these. */
function parseEndpointsQuery(query: unknown) {
  const reader = new QueryReader(query);
  const merchant_id = reader.text('merchant', (text) => textFault(text, TEXT_MAXIMUM));
  const livemode = reader.oneOf('livemode', ['true', 'false']);
  const state = reader.oneOf('state', ENDPOINT_STATES);
  const { limit, place: after } = reader.lastPage(isEndpointId);
  const mode = livemode && (livemode === 'true' ? ('live' as const) : ('test' as const));
  return { merchant_id, mode, state, limit, after };
}

/** Checks the list's query likewise. */
function parseDeliveriesQuery(query: unknown) {
  const reader = new QueryReader(query);
  const status = reader.oneOf('status', DELIVERY_STATUSES);
  const payment_id = reader.text('payment_id', (text) => textFault(text, TEXT_MAXIMUM));
  const { limit, place: before } = reader.lastPage(isDeliveryId);
  return { status, payment_id, limit, before };
}
