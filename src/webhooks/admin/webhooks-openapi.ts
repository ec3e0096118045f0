// What the OpenAPI document says of webhook endpoints and deliveries under /admin, built from the schemas that check and shape.

import type { ErrorCode } from '../../lib/errors.ts';
import { readOperation, TOKEN_NEEDED, UNDER_ADMIN } from '../../operate/admin/openapi.ts';
import {
  BODY_CODES,
  type Description,
  failures,
  json,
  jsonSchema,
  PAGE_PARAMETERS,
  query,
  ref,
  success,
} from '../../web/openapi.ts';
import { DELIVERY_STATUSES } from '../delivery.ts';
import { ENDPOINT_STATES } from '../endpoint.ts';
import { disableRequestSchema, strictResendSchema } from './webhook-acts.ts';
import { merchantEndpointAnswerSchema, merchantEndpointListSchema } from './webhooks.ts';

const endpointId = { name: 'endpoint_id', in: 'path', required: true, schema: { type: 'string' } };
const deliveryId = { name: 'delivery_id', in: 'path', required: true, schema: { type: 'string' } };
const OTHERS = 'A parameter that is none of these is an error.';
const ADMINISTERING: ErrorCode[] = [...UNDER_ADMIN, 'forbidden', 'not_found'];
const ROLE = '403 `forbidden`: the role of the token is not administrator.';

/** What an administrator does about an endpoint or a delivery. `body` names the schema of the request, if it has one. */
function act(
  operationId: string,
  [summary, description, schema]: [string, string, string],
  { parameter, codes, body }: { parameter: object; codes: readonly ErrorCode[]; body?: string },
) {
  const responses = { 200: success('Done.', schema), ...failures([...ADMINISTERING, ...codes]) };
  const requestBody = body && { requestBody: { required: true, ...json(ref(body)) } };
  const rest = { security: TOKEN_NEEDED, parameters: [parameter], ...requestBody, responses };
  return { post: { operationId, summary, description: `${description} ${ROLE}`, ...rest } };
}

const reads = (): Description['paths'] => ({
  '/admin/webhook_endpoints': readOperation(
    'listWebhookEndpointsOfMerchants',
    'Webhook endpoints of all merchants',
    'MerchantEndpointList',
    ['validation_failed'],
    {
      description: `Oldest first. Secrets are never shown. ${OTHERS}`,
      parameters: [
        query('merchant', { type: 'string', maxLength: 255 }, 'Only those of the merchant with this id.'),
        query('livemode', { type: 'string', enum: ['true', 'false'] }, 'Only live ones, or only test ones.'),
        query('state', { type: 'string', enum: [...ENDPOINT_STATES] }, 'Only those in this state.'),
        ...PAGE_PARAMETERS,
      ],
    },
  ),
  '/admin/webhook_endpoints/{endpoint_id}': readOperation(
    'readWebhookEndpointOfMerchant',
    'A webhook endpoint, without its secret',
    'MerchantEndpointAnswer',
    ['not_found'],
    { parameters: [endpointId] },
  ),
  '/admin/webhook_endpoints/{endpoint_id}/deliveries': readOperation(
    'listDeliveriesOfMerchant',
    'The deliveries to a webhook endpoint',
    'DeliveryList',
    ['not_found', 'validation_failed'],
    {
      description: `Newest first. Deliveries are kept for 30 days. ${OTHERS}`,
      parameters: [
        endpointId,
        query('status', { type: 'string', enum: [...DELIVERY_STATUSES] }, 'Only those in this status.'),
        query('payment_id', { type: 'string', maxLength: 255 }, 'Only events of this payment.'),
        ...PAGE_PARAMETERS,
      ],
    },
  ),
  '/admin/deliveries/{delivery_id}': readOperation(
    'readDeliveryOfMerchant',
    'A delivery with its attempts',
    'DeliveryAnswer',
    ['not_found'],
    { parameters: [deliveryId] },
  ),
});

const acts = (): Description['paths'] => ({
  '/admin/webhook_endpoints/{endpoint_id}/disable': act(
    'disableWebhookEndpointOfMerchant',
    [
      'Disable a webhook endpoint',
      'Nothing is sent to it until an administrator enables it. What happens meanwhile is kept. A repeated call changes nothing.',
      'MerchantEndpointAnswer',
    ],
    { parameter: endpointId, codes: BODY_CODES, body: 'EndpointDisabling' },
  ),
  '/admin/webhook_endpoints/{endpoint_id}/enable': act(
    'enableWebhookEndpointOfMerchant',
    [
      'Enable a webhook endpoint',
      'What happened while it was disabled is sent now. 409 `invalid_status`: its secret is lost. A request body is ignored. A repeated call changes nothing.',
      'MerchantEndpointAnswer',
    ],
    { parameter: endpointId, codes: ['invalid_status'] },
  ),
  '/admin/webhook_endpoints/{endpoint_id}/resend': act(
    'resendDeliveriesOfMerchant',
    [
      'Send again what an endpoint did not take, or what it is missing',
      'What was delivered is not sent again. 409 `invalid_status`: the endpoint is disabled.',
      'ResendAnswer',
    ],
    { parameter: endpointId, codes: [...BODY_CODES, 'invalid_status'], body: 'StrictResendRequest' },
  ),
  '/admin/deliveries/{delivery_id}/resend': act(
    'resendDeliveryOfMerchant',
    [
      'Send a delivery again now, also one that was delivered',
      'The schedule of its attempts begins anew. 409 `invalid_status`: the endpoint is disabled. A request body is ignored.',
      'DeliveryAnswer',
    ],
    { parameter: deliveryId, codes: ['invalid_status'] },
  ),
});

export const adminWebhookDescription = (): Description => ({
  paths: { ...reads(), ...acts() },
  schemas: {
    MerchantEndpointList: jsonSchema(merchantEndpointListSchema, 'output'),
    MerchantEndpointAnswer: jsonSchema(merchantEndpointAnswerSchema, 'output'),
    EndpointDisabling: jsonSchema(disableRequestSchema, 'input'),
    StrictResendRequest: jsonSchema(
      strictResendSchema(() => 0),
      'input',
    ),
  },
});
