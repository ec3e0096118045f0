// What the OpenAPI document says of /health, built from the schemas that shape its answers.
import { healthSchema, readinessSchema } from './health.ts';
import {
  ALWAYS,
  type Description,
  failures,
  json,
  jsonSchema,
  REQUEST_ID_HEADER,
  ref,
  success,
} from './openapi.ts';

export const healthDescription = (): Description => ({
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
  },
  schemas: {
    Health: jsonSchema(healthSchema, 'output'),
    Readiness: jsonSchema(readinessSchema, 'output'),
  },
});
