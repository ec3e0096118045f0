// What the OpenAPI document says of the requests that webhook endpoints are sent.
import { EVENT_TYPES, type EventType } from '../payments/events/event.ts';
import { type Description, json, jsonSchema, ref } from '../web/openapi.ts';
import { TEST_EVENT_TYPE, testEventSchema } from './deliver.ts';

const signed = (name: string, description: string) => ({
  ...{ name, in: 'header', required: true, description },
  schema: { type: 'string' },
});

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

export const sentDescription = (): Description => ({
  paths: {},
  webhooks: Object.fromEntries(
    ([...EVENT_TYPES, TEST_EVENT_TYPE] as const).map((type) => [type, sent(type)]),
  ),
  schemas: { TestEvent: jsonSchema(testEventSchema, 'output') },
});
