// What the OpenAPI document says of /health and of payments under /v1, built from the schemas that check requests and shape answers.

import { type ErrorCode, STATUS_OF_CODE } from '../../lib/errors.ts';
import { healthSchema, readinessSchema } from '../../web/health.ts';
import {
  ALWAYS,
  BODY_CODES,
  type Description,
  failures,
  json,
  jsonSchema,
  PREFER_STRICT,
  query,
  REQUEST_ID_HEADER,
  ref,
  success,
} from '../../web/openapi.ts';
import { STATUSES } from '../payment.ts';
import { paymentRequestSchema } from '../request.ts';
import { WAIT_MAXIMUM_S } from './payment-read.ts';
import { paymentAnswerSchema, paymentListSchema } from './payments.ts';

const UNDER_V1: ErrorCode[] = [...ALWAYS, 'unauthorized', 'forbidden', 'rate_limited'];

/** The headers that tell a key its limits (draft-ietf-httpapi-ratelimit-headers-10). */
export const RATE_LIMIT = {
  'RateLimit-Policy': {
    required: false,
    description:
      'How many requests (`q`) the key may send in how many seconds (`w`); missing where nothing is limited.',
    schema: { type: 'string', examples: ['"write";q=100;w=2'] },
  },
  RateLimit: {
    required: false,
    description: 'How many requests are left (`r`), and in how many seconds there is one more (`t`).',
    schema: { type: 'string', examples: ['"write";r=37;t=1'] },
  },
};

export const paymentId = { name: 'payment_id', in: 'path', required: true, schema: { type: 'string' } };
export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a retry safe: the same key with the same request gets the first answer again for 7 days, with `Idempotency-Replayed: true`. Sent at most once.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
};
const created = () =>
  answer('Created, `pending`. Send the customer to `data.checkout_url`.', 'PaymentAnswer', {
    Location: { schema: { type: 'string' }, description: 'The payment itself.' },
    'Counterfoil-Ignored': {
      required: false,
      description: 'To a test key: the unknown fields that were ignored, each with the one probably meant.',
      schema: { type: 'string', examples: ['"curency" (currency?)'] },
    },
  });
const WAITING = `With \`Prefer: wait=30\` the answer comes at the next change of the payment, or after the seconds named, at most ${WAIT_MAXIMUM_S}. With \`If-None-Match\` the change counts from the answer that had this entity tag, so that none is missed between two reads.`;
const CONDITIONS = [
  {
    name: 'Prefer',
    in: 'header',
    description: '`wait=30` waits for a change, so many seconds at most (RFC 7240).',
    schema: { type: 'string' },
  },
  {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier answer.',
    schema: { type: 'string' },
  },
];
const READ_HEADERS = {
  ETag: { description: 'Another one whenever the answer is another.', schema: { type: 'string' } },
  'Preference-Applied': {
    required: false,
    description: 'How long the answer would have waited: missing if it did not.',
    schema: { type: 'string', examples: ['wait=30'] },
  },
};
const readOperation = () => ({
  operationId: 'readPayment',
  summary: 'Read a payment',
  description: WAITING,
  security,
  parameters: [paymentId, ...CONDITIONS],
  responses: {
    200: answer('The payment.', 'PaymentAnswer', READ_HEADERS),
    304: {
      description: 'Still as the client knows it.',
      headers: { ...REQUEST_ID_HEADER, ...RATE_LIMIT, ...READ_HEADERS },
    },
    ...refusals(['not_found']),
  },
});
const OF_A_CANCEL: ErrorCode[] = [
  'not_found',
  'invalid_status',
  'conflict',
  'validation_failed',
  'idempotency_key_reused',
  'idempotency_in_progress',
];
/** A merchant's key, as everything under /v1 asks for. */
export const security = [{ apiKey: [] }];

export const apiDescription = (): Description => ({
  paths: {
    '/health': {
      get: {
        operationId: 'health',
        summary: 'Whether the service works',
        security: [],
        responses: {
          200: success('It works.', 'Health'),
          503: {
            description: 'The store takes no writes.',
            headers: REQUEST_ID_HEADER,
            ...json({ anyOf: [ref('Health'), ref('Error')] }),
          },
          ...failures(ALWAYS.filter((code) => code !== 'unavailable')),
        },
      },
    },
    '/health/ready': {
      get: {
        operationId: 'readiness',
        summary: 'Whether this node takes requests',
        description:
          'For load balancers and orchestrators: `unavailable` also while the node finishes what it has accepted before it stops. A node that has too much to do answers late and is ready: allow 5 seconds.',
        security: [],
        responses: {
          200: success('It takes requests.', 'Readiness'),
          503: {
            description: 'Send requests elsewhere for now; `failing` says why.',
            headers: REQUEST_ID_HEADER,
            ...json({ anyOf: [ref('Readiness'), ref('Error')] }),
          },
          ...failures(ALWAYS.filter((code) => code !== 'unavailable')),
        },
      },
    },
    '/v1/payments': {
      post: {
        operationId: 'createPayment',
        summary: 'Create a payment',
        security,
        parameters: [idempotencyKey, PREFER_STRICT],
        requestBody: { required: true, ...json(ref('PaymentRequest')) },
        responses: {
          201: created(),
          ...refusals([...BODY_CODES, 'idempotency_key_reused', 'idempotency_in_progress']),
        },
      },
      get: {
        operationId: 'listPayments',
        summary: "List the merchant's payments, newest first",
        security,
        parameters: [
          query('limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }, 'How many at most.'),
          query(
            'merchant_reference',
            { type: 'string', maxLength: 255 },
            'Only those with exactly this reference.',
          ),
          query('status', { type: 'string', enum: [...STATUSES] }, 'Only those in this status.'),
          query('cursor', { type: 'string' }, 'The `next_cursor` of an earlier answer.'),
          query(
            'updated_after',
            { type: 'string' },
            'An RFC 3339 time, or the `next_updated_cursor` of an earlier answer: only payments that changed then or later, each once, oldest change first. Not together with `cursor`.',
          ),
        ],
        responses: {
          200: answer('A page of payments.', 'PaymentList'),
          ...refusals(['validation_failed']),
        },
      },
    },
    '/v1/payments/{payment_id}': { get: readOperation() },
    '/v1/payments/{payment_id}/cancel': {
      post: {
        operationId: 'cancelPayment',
        summary: 'Cancel a payment that is pending',
        security,
        description: 'A request body is ignored.',
        parameters: [paymentId, idempotencyKey],
        responses: {
          200: answer('Cancelled.', 'PaymentAnswer'),
          ...refusals(OF_A_CANCEL),
        },
      },
    },
  },
  securitySchemes: {
    apiKey: { type: 'http', scheme: 'bearer', description: "A merchant's API key; for servers only." },
  },
  schemas: {
    Health: jsonSchema(healthSchema, 'output'),
    Readiness: jsonSchema(readinessSchema, 'output'),
    PaymentRequest: jsonSchema(paymentRequestSchema, 'input'),
    PaymentAnswer: jsonSchema(paymentAnswerSchema, 'output'),
    PaymentList: jsonSchema(paymentListSchema, 'output'),
  },
});

/** A response to a key that was counted. */
export function answer(description: string, schema: string, headers: object = {}) {
  return success(description, schema, { ...RATE_LIMIT, ...headers });
}

/** The errors under /v1, those among them that every request can come to. */
export function refusals(codes: readonly ErrorCode[]): Record<string, object> {
  const responses = failures([...UNDER_V1, ...codes]);
  const tooMany = responses[STATUS_OF_CODE.rate_limited] as { headers: object };
  tooMany.headers = { ...tooMany.headers, ...RATE_LIMIT };
  return responses;
}
