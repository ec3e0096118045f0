// What the OpenAPI document says of webhook endpoints and deliveries under /v1, built from the schemas that check and shape.

import { answer, idempotencyKey, refusals, security } from '../../payments/api/openapi.ts';
import { EVENT_TYPES, type EventType } from '../../payments/events/event.ts';
import {
  BODY_CODES,
  type Description,
  json,
  jsonSchema,
  PAGE_PARAMETERS,
  PREFER_STRICT,
  query,
  ref,
} from '../../web/openapi.ts';
import type { AddressRules } from '../addresses.ts';
import { DELIVERY_STATUSES } from '../delivery.ts';
import { ENDPOINTS_MAXIMUM } from '../endpoint.ts';
import { resendAnswerSchema, resendRequestSchema } from '../resend.ts';
import { TEST_EVENT_TYPE, testEventSchema } from '../test-event.ts';
import { deliveryAnswerSchema, deliveryListSchema, resentDeliveryAnswerSchema } from './deliveries.ts';
import { endpointChangeSchema, endpointRequestSchema } from './webhook-requests.ts';
import {
  deletedEndpointAnswerSchema,
  endpointAnswerSchema,
  endpointListSchema,
  newEndpointAnswerSchema,
  testAnswerSchema,
} from './webhooks.ts';

const RULES: AddressRules = { allowHttp: false, allowedNetworks: [], ports: [] };
const endpointId = { name: 'endpoint_id', in: 'path', required: true, schema: { type: 'string' } };
const deliveryId = { name: 'delivery_id', in: 'path', required: true, schema: { type: 'string' } };
const LOCATION = {
  Location: { schema: { type: 'string' }, description: 'The new endpoint, without its secret.' },
};
const ONCE = ['idempotency_key_reused', 'idempotency_in_progress'] as const;

const endpointPaths = (): Description['paths'] => ({
  '/v1/webhook_endpoints': {
    get: {
      operationId: 'listWebhookEndpoints',
      summary: "List the merchant's webhook endpoints of the same mode, oldest first",
      security,
      responses: { 200: answer('All of them.', 'WebhookEndpointList'), ...refusals([]) },
    },
    post: {
      operationId: 'createWebhookEndpoint',
      summary: 'Add a webhook endpoint',
      description: `It gets the events from now on. A merchant has at most ${ENDPOINTS_MAXIMUM} in each mode. \`data.secret\` stands in this answer alone.`,
      security,
      parameters: [idempotencyKey, PREFER_STRICT],
      requestBody: { required: true, ...json(ref('WebhookEndpointRequest')) },
      responses: {
        201: answer('Made.', 'NewWebhookEndpointAnswer', LOCATION),
        ...refusals([...BODY_CODES, ...ONCE, 'conflict']),
      },
    },
  },
  '/v1/webhook_endpoints/{endpoint_id}': {
    get: {
      operationId: 'readWebhookEndpoint',
      summary: 'Read a webhook endpoint, without its secret',
      security,
      parameters: [endpointId],
      responses: { 200: answer('The endpoint.', 'WebhookEndpointAnswer'), ...refusals(['not_found']) },
    },
    patch: {
      operationId: 'changeWebhookEndpoint',
      summary: 'Change, disable or enable a webhook endpoint',
      description: 'What is left out stays. A new URL holds for what waits already.',
      security,
      parameters: [endpointId, PREFER_STRICT],
      requestBody: { required: true, ...json(ref('WebhookEndpointChange')) },
      responses: {
        200: answer('Changed.', 'WebhookEndpointAnswer'),
        ...refusals([...BODY_CODES, 'not_found', 'invalid_status', 'conflict']),
      },
    },
    delete: {
      operationId: 'deleteWebhookEndpoint',
      summary: 'Delete a webhook endpoint, and what waits for it',
      security,
      parameters: [endpointId],
      responses: {
        200: answer('Deleted.', 'DeletedWebhookEndpointAnswer'),
        ...refusals(['not_found', 'conflict']),
      },
    },
  },
});

const secretPaths = (): Description['paths'] => ({
  '/v1/webhook_endpoints/{endpoint_id}/rotate_secret': {
    post: {
      operationId: 'rotateWebhookSecret',
      summary: 'Give a webhook endpoint a new secret',
      description: 'The secret before signs along for 24 hours. A request body is ignored.',
      security,
      parameters: [endpointId, idempotencyKey],
      responses: {
        200: answer('`data.secret` is the new one.', 'NewWebhookEndpointAnswer'),
        ...refusals(['not_found', 'validation_failed', ...ONCE, 'conflict']),
      },
    },
  },
  '/v1/webhook_endpoints/{endpoint_id}/test': {
    post: {
      operationId: 'testWebhookEndpoint',
      summary: 'Send a test event now and see what comes back',
      description:
        'Sends an event of type `webhook.test` with empty `data`, signed as every event, once, also to a disabled endpoint. Waits 7 seconds at most. Each request sends one: no `Idempotency-Key` is heeded. A request body is ignored.',
      security,
      parameters: [endpointId],
      responses: {
        200: answer('What came back.', 'WebhookTestAnswer'),
        ...refusals(['not_found', 'invalid_status', 'conflict']),
      },
    },
  },
});

const deliveryPaths = (): Description['paths'] => ({
  '/v1/webhook_endpoints/{endpoint_id}/deliveries': {
    get: {
      operationId: 'listDeliveries',
      summary: 'List the deliveries to a webhook endpoint, newest first',
      description: 'Deliveries are kept for 30 days.',
      security,
      parameters: [
        endpointId,
        ...PAGE_PARAMETERS,
        query('status', { type: 'string', enum: [...DELIVERY_STATUSES] }, 'Only deliveries of this status.'),
        query('payment_id', { type: 'string' }, 'Only events of this payment.'),
      ],
      responses: {
        200: answer('A page of deliveries.', 'DeliveryList'),
        ...refusals(['not_found', 'validation_failed']),
      },
    },
  },
  '/v1/webhook_endpoints/{endpoint_id}/resend': {
    post: {
      operationId: 'resendDeliveries',
      summary: 'Send again what an endpoint did not take, or what it is missing',
      description:
        'Events are read out of the history, so none is lost while an endpoint does not answer. What was delivered is not sent again.',
      security,
      parameters: [endpointId, idempotencyKey, PREFER_STRICT],
      requestBody: { required: true, ...json(ref('ResendRequest')) },
      responses: {
        200: answer('They are due now.', 'ResendAnswer'),
        ...refusals([...BODY_CODES, ...ONCE, 'not_found', 'invalid_status', 'conflict']),
      },
    },
  },
  '/v1/deliveries/{delivery_id}': {
    get: {
      operationId: 'readDelivery',
      summary: 'Read a delivery with its attempts',
      security,
      parameters: [deliveryId],
      responses: { 200: answer('The delivery.', 'DeliveryAnswer'), ...refusals(['not_found']) },
    },
  },
  '/v1/deliveries/{delivery_id}/resend': {
    post: {
      operationId: 'resendDelivery',
      summary: 'Send a delivery again now, also one that was delivered',
      description: 'The schedule of its attempts begins anew. A request body is ignored.',
      security,
      parameters: [deliveryId, idempotencyKey],
      responses: {
        200: answer('It is due now.', 'ResentDeliveryAnswer'),
        ...refusals(['not_found', 'validation_failed', 'invalid_status', 'conflict', ...ONCE]),
      },
    },
  },
});

const signed = (name: string, description: string) => ({
  ...{ name, in: 'header', required: true, description },
  schema: { type: 'string' },
});

/** The request that an endpoint is sent for an event of a type. */
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

export const webhookDescription = (): Description => ({
  paths: { ...endpointPaths(), ...secretPaths(), ...deliveryPaths() },
  webhooks: Object.fromEntries(
    ([...EVENT_TYPES, TEST_EVENT_TYPE] as const).map((type) => [type, sent(type)]),
  ),
  schemas: {
    WebhookEndpointRequest: jsonSchema(endpointRequestSchema(RULES), 'input'),
    WebhookEndpointChange: jsonSchema(endpointChangeSchema(RULES), 'input'),
    WebhookEndpointAnswer: jsonSchema(endpointAnswerSchema, 'output'),
    NewWebhookEndpointAnswer: jsonSchema(newEndpointAnswerSchema, 'output'),
    DeletedWebhookEndpointAnswer: jsonSchema(deletedEndpointAnswerSchema, 'output'),
    WebhookEndpointList: jsonSchema(endpointListSchema, 'output'),
    WebhookTestAnswer: jsonSchema(testAnswerSchema, 'output'),
    DeliveryAnswer: jsonSchema(deliveryAnswerSchema, 'output'),
    DeliveryList: jsonSchema(deliveryListSchema, 'output'),
    TestEvent: jsonSchema(testEventSchema, 'output'),
    ResendRequest: jsonSchema(
      resendRequestSchema(() => 0),
      'input',
    ),
    ResendAnswer: jsonSchema(resendAnswerSchema, 'output'),
    ResentDeliveryAnswer: jsonSchema(resentDeliveryAnswerSchema, 'output'),
  },
});
