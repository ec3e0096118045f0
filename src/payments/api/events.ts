// The events' endpoints under /v1: a merchant lists its events, reads one, or gets them as they happen.
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { OperationalError, validationFailed } from '../../lib/errors.ts';
import type { Clock } from '../../lib/time.ts';
import { stillCalls } from '../../merchants/api/authenticate.ts';
import type { Directory } from '../../merchants/directory.ts';
import type { Database } from '../../store/database.ts';
import {
  type ApiEndpoint,
  endpoint,
  limitParameter,
  textParameter,
  wordsParameter,
} from '../../web/endpoint.ts';
import { API_HEADERS } from '../../web/headers.ts';
import { EVENT_TYPES, type EventType, eventSchema, presentEvent } from '../events/event.ts';
import { findTold, listEvents, type Position } from '../events/list.ts';
import type { EventStreams } from '../events/streams.ts';
import { isPaymentId } from '../payment.ts';
import { findPaymentOf } from '../queries.ts';
import { paymentNotFound } from '../transition.ts';
import { tenantOf } from './once.ts';

const UNKNOWN_EVENT = 'Must be the id of an event or a next_cursor of an earlier answer.';

const eventAnswerSchema = z.strictObject({ data: eventSchema });
const eventListSchema = z.strictObject({
  data: z.array(eventSchema),
  has_more: z.boolean().describe('Whether there may be more behind the last.'),
  next_cursor: z
    .string()
    .nullable()
    .describe('Hand in as `after` for what comes next, now or later. Null before the first event.'),
});

const ORDER =
  'Events are listed oldest first, in the order of their commits: none is missed and none comes twice.';
const PAGE = { description: 'A page of events.', body: ['EventList', eventListSchema] } as const;

/** Which events are wanted, and behind which: of the list and of the stream. */
const FILTER = {
  after: textParameter('An event id or the `next_cursor` of an earlier answer: only what came later.'),
  type: wordsParameter(EVENT_TYPES, 'Only events of these types, parted by commas.'),
};
const OF_A_PAYMENT = { limit: limitParameter, ...FILTER };
const paymentIdParameter = textParameter('Only events of this payment.', (text) =>
  isPaymentId(text) ? undefined : 'Must be the id of a payment.',
);

/** The endpoints of events. */
export function eventEndpoints({ database }: { database: Database }): ApiEndpoint[] {
  async function listed(
    request: FastifyRequest,
    {
      limit,
      after,
      type: types,
    }: { limit: number; after: string | undefined; type: EventType[] | undefined },
    payment_id: string | undefined,
  ) {
    const tenant = tenantOf(request);
    const from = await positionOf(request, database, after);
    const { events, has_more, end } = await listEvents(database, tenant, { types, payment_id }, from, limit);
    const data = events.map(({ event }) => presentEvent(event)).join(',');
    return `{"data":[${data}],"has_more":${has_more},"next_cursor":${JSON.stringify(end?.id ?? null)}}`;
  }

  return [
    endpoint('GET /v1/events', {
      id: 'listEvents',
      summary: "List what became of the merchant's payments, oldest first",
      description: `${ORDER} Keep \`next_cursor\` also where \`has_more\` is false: later events come behind it.`,
      query: { ...OF_A_PAYMENT, payment_id: paymentIdParameter },
      answers: { 200: PAGE },
      errors: ['validation_failed'],
      handle: ({ request, query }) => listed(request, query, query.payment_id),
    }),
    endpoint('GET /v1/events/{event_id}', {
      id: 'readEvent',
      summary: 'Read an event',
      answers: { 200: { description: 'The event.', body: ['EventAnswer', eventAnswerSchema] } },
      errors: ['not_found'],
      async handle({ request }) {
        const told = await findTold(database, tenantOf(request), request.params.event_id);
        if (!told?.event) throw new OperationalError('not_found', 'There is no such event.');
        return `{"data":${presentEvent(told.event)}}`;
      },
    }),
    endpoint('GET /v1/payments/{payment_id}/events', {
      id: 'listPaymentEvents',
      summary: 'List the events of one payment, oldest first',
      query: OF_A_PAYMENT,
      answers: { 200: PAGE },
      errors: ['not_found', 'validation_failed'],
      async handle({ request, query }) {
        const { payment_id } = request.params;
        if (!isPaymentId(payment_id) || !(await findPaymentOf(database, tenantOf(request), payment_id)))
          throw paymentNotFound();
        return listed(request, query, payment_id);
      },
    }),
  ];
}

/** The position that an id names among the caller's events. Throws `validation_failed` where it names none. */
async function positionOf(
  request: FastifyRequest,
  database: Database,
  after: string | undefined,
): Promise<Position | undefined> {
  if (after === undefined) return undefined;
  const position = await findTold(database, tenantOf(request), after);
  if (!position) throw validationFailed({ after: UNKNOWN_EVENT });
  return position;
}

/** The second keeps nginx from holding events back. Caddy sends this media type on at once. */
const STREAM_HEADERS = {
  ...API_HEADERS,
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no',
};

export interface EventStreamRoutes {
  database: Database;
  directory: Directory;
  clock: Clock;
  streams: EventStreams;
}

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'As `after`, and stronger: clients send it when they come again.',
  schema: { type: 'string' },
};

/** The endpoint of the stream. */
export function eventStreamEndpoint({ database, directory, clock, streams }: EventStreamRoutes): ApiEndpoint {
  return endpoint('GET /v1/events/stream', {
    id: 'streamEvents',
    summary: "Be sent the merchant's events as they happen",
    description:
      'Server-sent events: `id` is the id of the event and `data` its JSON, as `GET /v1/events/{id}` has it. The stream begins behind `Last-Event-ID` or `after`, otherwise now. Its first block has no data: its `id` is the position where the stream begins. It goes on at every node. A comment is sent every 15 seconds. Come again when the stream ends.',
    query: { ...FILTER, payment_id: paymentIdParameter },
    headers: [LAST_EVENT_ID],
    answers: {
      200: {
        description: 'Events, until the client leaves, the key ends or the node stops.',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
    },
    errors: ['validation_failed'],
    async handle({ request, reply, query: { after, type: types, payment_id } }) {
      const last = request.headers['last-event-id'];
      const isBack = typeof last === 'string' && last !== ''; // its place is newer than `after`
      const position = await positionOf(request, database, isBack ? last : after);
      const filter = { types, payment_id };
      reply.headers(STREAM_HEADERS);
      if (request.method === 'HEAD') return '';
      const begin = await streams.open(
        {
          tenant: tenantOf(request),
          filter,
          after: position,
          mayGoOn: () => stillCalls(request, directory, clock.now()),
        },
        reply.raw,
      );
      reply.patienceMs = Number.POSITIVE_INFINITY;
      reply.hijack();
      reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>);
      begin();
      return reply;
    },
  });
}
