// Webhook endpoints of all merchants under /admin: how each stands, its deliveries, and what administrators do about them.
import { z } from 'zod';
import { actEndpoints } from '../../administrators/admin/act-endpoints.ts';
import type { AdminParts } from '../../administrators/admin/authenticate.ts';
import { OperationalError } from '../../lib/errors.ts';
import type { Reader } from '../../store/database.ts';
import {
  type ApiEndpoint,
  endpoint,
  idCursorParameter,
  limitParameter,
  livemodeParameter,
  shortParameter,
  wordParameter,
} from '../../web/endpoint.ts';
import { listSchema, listText, pageOf } from '../../web/list.ts';
import { ENDPOINT_ACTS } from '../acts.ts';
import { endpointNotFound } from '../change.ts';
import { resendDelivery } from '../deliver.ts';
import {
  DELIVERY_STATUSES,
  type Delivery,
  ENDPOINT_STATES,
  type Endpoint,
  type EndpointState,
  isDeliveryId,
  isEndpointId,
} from '../endpoint.ts';
import {
  DELIVERY_ANSWER,
  DELIVERY_LIST,
  deliveriesText,
  deliveryText,
  endpointSchema,
  presentEndpoint,
} from '../present.ts';
import { findDelivery, findEndpoint, type StandingEndpoint, searchEndpoints, standing } from '../queries.ts';

const merchantEndpointSchema = endpointSchema
  .extend({
    merchant_id: z.string(),
    state: z
      .enum(ENDPOINT_STATES)
      .describe('`failing`: the endpoint is enabled, and its last attempt failed.'),
  })
  .meta({ id: 'MerchantEndpoint' });
const merchantEndpointListSchema = listSchema(merchantEndpointSchema);

const ENDPOINT_ANSWER = ['MerchantEndpointAnswer', z.strictObject({ data: merchantEndpointSchema })] as const;

/** An endpoint of any merchant. Throws `not_found`. */
async function anyEndpoint(database: Reader, id: string): Promise<Endpoint> {
  const endpoint = isEndpointId(id) ? await findEndpoint(database, id) : undefined;
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

/** A delivery of any merchant. Throws `not_found`. */
async function anyDelivery(database: Reader, id: string): Promise<Delivery> {
  const delivery = isDeliveryId(id) ? await findDelivery(database, id) : undefined;
  if (!delivery) throw new OperationalError('not_found', 'There is no such delivery.');
  return delivery;
}

function presented(endpoint: StandingEndpoint): z.infer<typeof merchantEndpointSchema> {
  const { merchant_id, disabled_at, failing_since } = endpoint;
  const failing: EndpointState = failing_since === null ? 'enabled' : 'failing';
  const state = disabled_at === null ? failing : 'disabled';
  return { ...presentEndpoint(endpoint), merchant_id, state };
}

/** The JSON text of the answer about one endpoint. */
const endpointText = async (database: Reader, endpoint: Endpoint): Promise<string> =>
  JSON.stringify({ data: presented(await standing(database, endpoint)) });

const OTHERS = 'A parameter that is none of these is an error.';

/** The endpoints that change endpoints and send again. */
export const webhookActs = (parts: AdminParts): ApiEndpoint[] => [
  ...actEndpoints(parts, ENDPOINT_ACTS, { find: anyEndpoint, answer: ENDPOINT_ANSWER, text: endpointText }),
  endpoint('POST /admin/deliveries/{delivery_id}/resend', {
    id: 'resendDeliveryOfMerchant',
    summary: 'Send a delivery again now, also one that was delivered',
    description:
      'The schedule of its attempts begins anew. 409 `invalid_status`: the endpoint is disabled. A request body is ignored. 403 `forbidden`: the role of the token is not administrator.',
    may: 'administer',
    answers: { 200: { description: 'Done.', body: DELIVERY_ANSWER } },
    errors: ['forbidden', 'not_found', 'invalid_status'],
    async handle({ request }) {
      const delivery = await anyDelivery(parts.database, request.params.delivery_id);
      return parts.journal.commit(
        async (transaction) => deliveryText(transaction, await resendDelivery(transaction, delivery)),
        delivery.endpoint_id,
      );
    },
  }),
];

/** The endpoints that list and read. */
export const webhookReads = ({ database }: AdminParts): ApiEndpoint[] => [
  endpoint('GET /admin/webhook_endpoints', {
    id: 'listWebhookEndpointsOfMerchants',
    summary: 'Webhook endpoints of all merchants',
    description: `Oldest first. Secrets are never shown. ${OTHERS}`,
    may: 'read',
    query: {
      merchant: shortParameter('Only those of the merchant with this id.'),
      livemode: livemodeParameter('Only live ones, or only test ones.'),
      state: wordParameter(ENDPOINT_STATES, 'Only those in this state.'),
      limit: limitParameter,
      cursor: idCursorParameter(isEndpointId),
    },
    refusesOthers: true,
    answers: { 200: { body: ['MerchantEndpointList', merchantEndpointListSchema] } },
    errors: ['validation_failed'],
    async handle({ query: { merchant: merchant_id, livemode: mode, state, limit, cursor: after } }) {
      const found = await searchEndpoints(database, { merchant_id, mode, state, after }, limit + 1);
      const { page, next } = pageOf(found, limit);
      const items = page.map((one) => JSON.stringify(presented(one)));
      return listText(items, next);
    },
  }),
  endpoint('GET /admin/webhook_endpoints/{endpoint_id}', {
    id: 'readWebhookEndpointOfMerchant',
    summary: 'A webhook endpoint, without its secret',
    may: 'read',
    answers: { 200: { body: ENDPOINT_ANSWER } },
    errors: ['not_found'],
    handle: async ({ request }) =>
      endpointText(database, await anyEndpoint(database, request.params.endpoint_id)),
  }),
  endpoint('GET /admin/webhook_endpoints/{endpoint_id}/deliveries', {
    id: 'listDeliveriesOfMerchant',
    summary: 'The deliveries to a webhook endpoint',
    description: `Newest first. Deliveries are kept for 30 days. ${OTHERS}`,
    may: 'read',
    query: {
      status: wordParameter(DELIVERY_STATUSES, 'Only those in this status.'),
      payment_id: shortParameter('Only events of this payment.'),
      limit: limitParameter,
      cursor: idCursorParameter(isDeliveryId),
    },
    refusesOthers: true,
    answers: { 200: { body: DELIVERY_LIST } },
    errors: ['not_found', 'validation_failed'],
    handle: async ({ request, query }) =>
      deliveriesText(database, (await anyEndpoint(database, request.params.endpoint_id)).id, query),
  }),
  endpoint('GET /admin/deliveries/{delivery_id}', {
    id: 'readDeliveryOfMerchant',
    summary: 'A delivery with its attempts',
    may: 'read',
    answers: { 200: { body: DELIVERY_ANSWER } },
    errors: ['not_found'],
    handle: async ({ request }) =>
      deliveryText(database, await anyDelivery(database, request.params.delivery_id)),
  }),
];
