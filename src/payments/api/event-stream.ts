// GET /v1/events/stream: a merchant's events as they happen, as server-sent events (WHATWG HTML, section 9.2).
import type { Clock } from '../../lib/time.ts';
import { stillCalls } from '../../merchants/api/authenticate.ts';
import type { Directory } from '../../merchants/directory.ts';
import type { Database } from '../../store/database.ts';
import { type ApiEndpoint, endpoint } from '../../web/endpoint.ts';
import { API_HEADERS } from '../../web/headers.ts';
import type { EventStreams } from '../events/streams.ts';
import { FILTER, paymentIdParameter, positionOf } from './events.ts';
import { tenantOf } from './once.ts';

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
