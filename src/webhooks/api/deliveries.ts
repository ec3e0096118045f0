// Deliveries under /v1: a merchant lists those of an endpoint, reads one with its attempts, and has them sent again.
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Transaction } from '../../journal/transaction.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type AnswerOnce, actOf, tenantOf } from '../../payments/api/once.ts';
import {
  type ApiEndpoint,
  endpoint,
  idCursorParameter,
  limitParameter,
  textParameter,
  wordParameter,
} from '../../web/endpoint.ts';
import {
  presentResend,
  resend,
  resendAnswerSchema,
  resendDelivery,
  resendRequestSchema,
} from '../deliver.ts';
import { DELIVERY_STATUSES, type Delivery, isDeliveryId } from '../endpoint.ts';
import {
  DELIVERY_ANSWER,
  DELIVERY_LIST,
  deliveriesText,
  deliverySchema,
  deliveryText,
  presentDelivery,
} from '../present.ts';
import { attemptsOf, findDelivery } from '../queries.ts';
import { foundEndpoint, type WebhookRoutes } from './webhooks.ts';

const resentDeliveryAnswerSchema = z.strictObject({ data: deliverySchema });

type WithDelivery = { Params: { delivery_id: string } };

/** The endpoints of deliveries. */
export const deliveryEndpoints = (parts: WebhookRoutes, once: AnswerOnce): ApiEndpoint[] => [
  ...readingEndpoints(parts),
  ...resendingEndpoints(parts, once),
];

/** Those that list and read. */
function readingEndpoints({ database }: WebhookRoutes): ApiEndpoint[] {
  return [
    endpoint('GET /v1/webhook_endpoints/{endpoint_id}/deliveries', {
      id: 'listDeliveries',
      summary: 'List the deliveries to a webhook endpoint, newest first',
      description: 'Deliveries are kept for 30 days.',
      query: {
        limit: limitParameter,
        cursor: idCursorParameter(isDeliveryId),
        status: wordParameter(DELIVERY_STATUSES, 'Only deliveries of this status.'),
        payment_id: textParameter('Only events of this payment.'),
      },
      answers: { 200: { description: 'A page of deliveries.', body: DELIVERY_LIST } },
      errors: ['not_found', 'validation_failed'],
      handle: async ({ request, query }) =>
        deliveriesText(database, (await foundEndpoint(database, request)).id, query),
    }),
    endpoint('GET /v1/deliveries/{delivery_id}', {
      id: 'readDelivery',
      summary: 'Read a delivery with its attempts',
      answers: { 200: { description: 'The delivery.', body: DELIVERY_ANSWER } },
      errors: ['not_found'],
      handle: async ({ request }) => deliveryText(database, await foundDelivery(database, request)),
    }),
  ];
}

/** Those that send again. */
function resendingEndpoints({ database, clock }: WebhookRoutes, once: AnswerOnce): ApiEndpoint[] {
  return [
    endpoint('POST /v1/webhook_endpoints/{endpoint_id}/resend', {
      id: 'resendDeliveries',
      summary: 'Send again what an endpoint did not take, or what it is missing',
      description:
        'Events are read out of the history, so none is lost while an endpoint does not answer. What was delivered is not sent again.',
      body: ['ResendRequest', resendRequestSchema(() => clock.now())],
      once: true,
      answers: { 200: { description: 'They are due now.', body: ['ResendAnswer', resendAnswerSchema] } },
      errors: ['not_found', 'invalid_status', 'conflict'],
      async handle({ request, reply, bytes, body: { what, since: text } }) {
        const { id } = await foundEndpoint(database, request);
        const since = Date.parse(text);
        const work = async (transaction: Transaction) => {
          const deliveries = await resend(transaction, id, what, since, actOf(request));
          return { status: 200, body: JSON.stringify({ data: presentResend(what, since, deliveries) }) };
        };
        const route = 'POST /v1/webhook_endpoints/:endpoint_id/resend';
        return once(request, reply, { route, body: `${id} ${bytes}`, row: id }, work);
      },
    }),
    endpoint('POST /v1/deliveries/{delivery_id}/resend', {
      id: 'resendDelivery',
      summary: 'Send a delivery again now, also one that was delivered',
      description: 'The schedule of its attempts begins anew. A request body is ignored.',
      once: true,
      answers: {
        200: { description: 'It is due now.', body: ['ResentDeliveryAnswer', resentDeliveryAnswerSchema] },
      },
      errors: ['not_found', 'invalid_status', 'conflict'],
      async handle({ request, reply }) {
        const delivery = await foundDelivery(database, request);
        const attempts = await attemptsOf(database, [delivery.id]);
        const work = async (transaction: Transaction) => {
          const data = presentDelivery(await resendDelivery(transaction, delivery), attempts);
          return { status: 200, body: JSON.stringify({ data }) };
        };
        const { id, endpoint_id: row } = delivery;
        return once(
          request,
          reply,
          { route: 'POST /v1/deliveries/:delivery_id/resend', body: id, row },
          work,
        );
      },
    }),
  ];
}

/** A delivery of the caller's merchant and mode. Throws `not_found`, in the same words whatever is wrong with the id. */
async function foundDelivery(
  database: WebhookRoutes['database'],
  request: FastifyRequest<WithDelivery>,
): Promise<Delivery> {
  const { delivery_id: id } = request.params;
  const delivery = isDeliveryId(id) ? await findDelivery(database, id, tenantOf(request)) : undefined;
  if (!delivery) throw new OperationalError('not_found', 'There is no such delivery.');
  return delivery;
}
