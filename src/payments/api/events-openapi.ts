// What the OpenAPI document says of events under /v1, built from the schemas that shape answers.

import { type Description, jsonSchema, query, REQUEST_ID_HEADER } from '../../web/openapi.ts';
import { EVENT_TYPES } from '../events/event.ts';
import { eventAnswerSchema, eventListSchema } from './events.ts';
import { answer, RATE_LIMIT, refusals, security } from './openapi.ts';

const paymentId = { name: 'payment_id', in: 'path', required: true, schema: { type: 'string' } };
const eventId = { name: 'event_id', in: 'path', required: true, schema: { type: 'string' } };
const TYPE = {
  ...query(
    'type',
    { type: 'array', minItems: 1, items: { type: 'string', enum: [...EVENT_TYPES] } },
    'Only events of these types, parted by commas.',
  ),
  style: 'form',
  explode: false,
};
const AFTER = query(
  'after',
  { type: 'string' },
  'An event id or the `next_cursor` of an earlier answer: only what came later.',
);
const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'As `after`, and stronger: clients send it when they come again.',
  schema: { type: 'string' },
};
const PAGE = [
  query('limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }, 'How many at most.'),
  AFTER,
  TYPE,
];
const PAYMENT = query('payment_id', { type: 'string' }, 'Only events of this payment.');
const ORDER =
  'Events are listed oldest first, in the order of their commits: none is missed and none comes twice.';

export const eventDescription = (): Description => ({
  paths: {
    '/v1/events': {
      get: {
        operationId: 'listEvents',
        summary: "List what became of the merchant's payments, oldest first",
        description: `${ORDER} Keep \`next_cursor\` also where \`has_more\` is false: later events come behind it.`,
        security,
        parameters: [...PAGE, PAYMENT],
        responses: { 200: answer('A page of events.', 'EventList'), ...refusals(['validation_failed']) },
      },
    },
    '/v1/events/stream': {
      get: {
        operationId: 'streamEvents',
        summary: "Be sent the merchant's events as they happen",
        description:
          'Server-sent events: `id` is the id of the event and `data` its JSON, as `GET /v1/events/{id}` has it. The stream begins behind `Last-Event-ID` or `after`, otherwise now. It goes on at every node. A comment is sent every 15 seconds. Come again when the stream ends.',
        security,
        parameters: [AFTER, TYPE, PAYMENT, LAST_EVENT_ID],
        responses: {
          200: {
            description: 'Events, until the client leaves, the key ends or the node stops.',
            headers: { ...REQUEST_ID_HEADER, ...RATE_LIMIT },
            content: { 'text/event-stream': { schema: { type: 'string' } } },
          },
          ...refusals(['validation_failed']),
        },
      },
    },
    '/v1/events/{event_id}': {
      get: {
        operationId: 'readEvent',
        summary: 'Read an event',
        security,
        parameters: [eventId],
        responses: { 200: answer('The event.', 'EventAnswer'), ...refusals(['not_found']) },
      },
    },
    '/v1/payments/{payment_id}/events': {
      get: {
        operationId: 'listPaymentEvents',
        summary: 'List the events of one payment, oldest first',
        security,
        parameters: [paymentId, ...PAGE],
        responses: {
          200: answer('A page of events.', 'EventList'),
          ...refusals(['not_found', 'validation_failed']),
        },
      },
    },
  },
  schemas: {
    EventAnswer: jsonSchema(eventAnswerSchema, 'output'),
    EventList: jsonSchema(eventListSchema, 'output'),
  },
});
