// GET /v1/events/stream: a merchant's events as they happen, as server-sent events (WHATWG HTML, section 9.2).
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../lib/time.ts';
import { stillCalls } from '../../merchants/api/authenticate.ts';
import type { Directory } from '../../merchants/directory.ts';
import type { Database } from '../../store/database.ts';
import { API_HEADERS } from '../../web/headers.ts';
import { QueryReader } from '../../web/list.ts';
import type { EventStreams } from '../events/streams.ts';
import { positionOf, readFilter } from './events.ts';
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

/** Adds the route to `app`, whose requests carry a caller by now. */
export function addEventStream(app: FastifyInstance, settings: EventStreamRoutes): void {
  const { database, directory, clock, streams } = settings;
  app.get('/events/stream', async (request, reply) => {
    const { after, ...filter } = parseQuery(request);
    const position = await positionOf(request, database, after);
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
  });
}

/** Checks the query. `Last-Event-ID`, which a client that comes back sends, is newer than `after`. Throws `validation_failed`. */
function parseQuery(request: FastifyRequest) {
  const reader = new QueryReader(request.query);
  const asked = readFilter(reader);
  reader.end();
  const last = request.headers['last-event-id'];
  return typeof last === 'string' && last !== '' ? { ...asked, after: last } : asked;
}
