// Deliveries under /v1: a merchant lists those of an endpoint, reads one with its attempts, and has them sent again.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
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
import { bodyOf, ignoreBody, takeJson } from '../../web/json-body.ts';
import { listSchema, listText, pageOf, QueryReader } from '../../web/list.ts';
import { DELIVERY_STATUSES, type Delivery, isDeliveryId } from '../delivery.ts';
import { attemptsOf, type DeliveryFilter, findDelivery, listDeliveries } from '../delivery-queries.ts';
import {
  deliverySchema,
  presentDeliveries,
  presentDelivery,
  presentWholeDelivery,
  wholeDeliverySchema,
} from '../present.ts';
import { presentResend, resend, resendDelivery, resendRequestSchema } from '../resend.ts';
import { foundEndpoint, type WebhookRoutes, type WithEndpoint } from './webhooks.ts';

export const deliveryListSchema = listSchema(deliverySchema);
export const deliveryAnswerSchema = z.strictObject({ data: wholeDeliverySchema });
export const resentDeliveryAnswerSchema = z.strictObject({ data: deliverySchema });

type WithDelivery = { Params: { delivery_id: string } };

/** Adds the routes to `app`, whose requests carry a caller by now. */
export function addDeliveryRoutes(app: FastifyInstance, parts: WebhookRoutes, once: AnswerOnce): void {
  const { database, clock } = parts;

  async function list(request: FastifyRequest<WithEndpoint>) {
    const { limit, before, ...filter } = parseListQuery(request.query);
    const { id } = await foundEndpoint(database, request);
    const found = await listDeliveries(database, id, filter, before, limit + 1);
    const { page, next } = pageOf(found, limit);
    const shown = await presentDeliveries(database, page);
    const items = shown.map((delivery) => JSON.stringify(delivery));
    return listText(items, next);
  }

  async function read(request: FastifyRequest<WithDelivery>) {
    const data = await presentWholeDelivery(database, await foundDelivery(database, request));
    return JSON.stringify({ data });
  }

  async function again(request: FastifyRequest<WithDelivery>, reply: FastifyReply) {
    checkIdempotencyKey(request);
    const delivery = await foundDelivery(database, request);
    const attempts = await attemptsOf(database, [delivery.id]);
    const work = async (transaction: Transaction) => {
      const data = presentDelivery(await resendDelivery(transaction, delivery), attempts);
      return { status: 200, body: JSON.stringify({ data }) };
    };
    const { id, endpoint_id: row } = delivery;
    return once(request, reply, { route: 'POST /v1/deliveries/:delivery_id/resend', body: id, row }, work);
  }

  const wanted = resendRequestSchema(() => clock.now());
  async function allAgain(request: FastifyRequest<WithEndpoint>, reply: FastifyReply) {
    const bytes = bodyOf(request);
    const wish = withIdempotencyKeyChecked(request, () => checked(wanted, bytes, request, reply));
    const { id } = await foundEndpoint(database, request);
    const since = Date.parse(wish.since);
    const { what } = wish;
    const work = async (transaction: Transaction) => {
      const deliveries = await resend(transaction, id, what, since, actOf(request));
      return { status: 200, body: JSON.stringify({ data: presentResend(what, since, deliveries) }) };
    };
    const route = 'POST /v1/webhook_endpoints/:endpoint_id/resend';
    return once(request, reply, { route, body: `${id} ${bytes}`, row: id }, work);
  }

  app.get('/webhook_endpoints/:endpoint_id/deliveries', list);
  app.get('/deliveries/:delivery_id', read);
  app.register(async (scope) => {
    takeJson(scope);
    scope.post('/webhook_endpoints/:endpoint_id/resend', allAgain);
  });
  app.register(async (scope) => {
    ignoreBody(scope);
    scope.post('/deliveries/:delivery_id/resend', again);
  });
}

/** A delivery of the caller's merchant and mode. Throws `not_found`, in the same words whatever is wrong with the id. */
async function foundDelivery(
  database: WebhookRoutes['database'],
  request: FastifyRequest<WithDelivery>,
): Promise<Delivery> {
  const { delivery_id: id } = request.params;
  const delivery = isDeliveryId(id) ? await findDelivery(database, tenantOf(request), id) : undefined;
  if (!delivery) throw new OperationalError('not_found', 'There is no such delivery.');
  return delivery;
}

/** Checks the list's query. Throws `validation_failed` with every fault; parameters it does not know are ignored. */
function parseListQuery(query: unknown): DeliveryFilter & { limit: number; before: string | undefined } {
  const reader = new QueryReader(query);
  const limit = reader.limit();
  const status = reader.oneOf('status', DELIVERY_STATUSES);
  const payment_id = reader.text('payment_id');
  const before = reader.idCursor(isDeliveryId);
  reader.end();
  return { limit, status, payment_id, before };
}
