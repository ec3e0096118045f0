// What the OpenAPI document says of API keys under /v1, built from the schemas that check requests and shape answers.

import { answer, refusals, security } from '../../payments/api/openapi.ts';
import {
  BODY_CODES,
  type Description,
  json,
  jsonSchema,
  PAGE_PARAMETERS,
  PREFER_STRICT,
  ref,
} from '../../web/openapi.ts';
import { apiKeyRequestSchema, rotationRequestSchema } from './api-key-requests.ts';
import {
  apiKeyAnswerSchema,
  apiKeyListSchema,
  newApiKeyAnswerSchema,
  revokedApiKeyAnswerSchema,
  rotatedApiKeyAnswerSchema,
} from './present-api-key.ts';

const keyId = { name: 'key_id', in: 'path', required: true, schema: { type: 'string' } };
const LOCATION = {
  Location: { schema: { type: 'string' }, description: 'The new key, without its secret.' },
};
const NOT_KEPT =
  'No `Idempotency-Key` is heeded: a key is told once and kept nowhere, so there is no answer to give again.';
const REPLACED =
  'A key that was replaced reads, and creates payments, until its end. Everything else is 403, but that it may revoke itself.';

export const apiKeyDescription = (): Description => ({
  paths: {
    '/v1/api_keys': {
      get: {
        operationId: 'listApiKeys',
        summary: "List the merchant's API keys of the same mode, newest first",
        description: 'A key that is over is listed for 30 days after its end.',
        security,
        parameters: [...PAGE_PARAMETERS],
        responses: {
          200: answer('A page of keys.', 'ApiKeyList'),
          ...refusals(['validation_failed']),
        },
      },
      post: {
        operationId: 'createApiKey',
        summary: 'Make another API key of the same merchant and mode',
        description: `The key stands in this answer alone. It ends with the key it is made with at the latest. ${NOT_KEPT} If the answer is lost, make another and revoke the one that the list shows. ${REPLACED}`,
        security,
        parameters: [PREFER_STRICT],
        requestBody: { required: true, ...json(ref('ApiKeyRequest')) },
        responses: {
          201: answer('Made. `data.key` is the key.', 'NewApiKeyAnswer', LOCATION),
          ...refusals([...BODY_CODES, 'conflict']),
        },
      },
    },
    '/v1/api_keys/{key_id}': {
      get: {
        operationId: 'readApiKey',
        summary: 'Read an API key, without its secret',
        security,
        parameters: [keyId],
        responses: {
          200: answer('The key.', 'ApiKeyAnswer'),
          ...refusals(['not_found']),
        },
      },
    },
    '/v1/api_keys/{key_id}/rotate': {
      post: {
        operationId: 'rotateApiKey',
        summary: 'Make a key in the place of another, which works on for a while',
        description: `The body may be left out. The new key keeps the end of the old one. ${NOT_KEPT} If the answer is lost, the same request again is 409, whose message names the key that was made: rotate that one with another key and \`overlap_seconds\` 0. ${REPLACED}`,
        security,
        parameters: [keyId, PREFER_STRICT],
        requestBody: { required: false, ...json(ref('RotationRequest')) },
        responses: {
          201: answer('Made. `data.key` is the new key.', 'RotatedApiKeyAnswer', LOCATION),
          ...refusals([...BODY_CODES, 'not_found', 'invalid_status', 'conflict']),
        },
      },
    },
    '/v1/api_keys/{key_id}/revoke': {
      post: {
        operationId: 'revokeApiKey',
        summary: 'Revoke a key now and for good',
        description: `A key may revoke itself. A request body is ignored. ${REPLACED}`,
        security,
        parameters: [keyId],
        responses: {
          200: answer('Revoked; every node refuses it within a second.', 'RevokedApiKeyAnswer'),
          ...refusals(['not_found', 'invalid_status']),
        },
      },
    },
  },
  schemas: {
    ApiKeyRequest: jsonSchema(apiKeyRequestSchema, 'input'),
    RotationRequest: jsonSchema(rotationRequestSchema, 'input'),
    ApiKeyAnswer: jsonSchema(apiKeyAnswerSchema, 'output'),
    NewApiKeyAnswer: jsonSchema(newApiKeyAnswerSchema, 'output'),
    RevokedApiKeyAnswer: jsonSchema(revokedApiKeyAnswerSchema, 'output'),
    RotatedApiKeyAnswer: jsonSchema(rotatedApiKeyAnswerSchema, 'output'),
    ApiKeyList: jsonSchema(apiKeyListSchema, 'output'),
  },
});
