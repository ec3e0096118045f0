// The events' endpoints under /v1: a merchant lists its events, those of one payment, and reads one.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { OperationalError, validationFailed } from '../../lib/errors.ts';
import type { Database } from '../../store/database.ts';
import { QueryReader } from '../../web/list.ts';
import { EVENT_TYPES, eventSchema, presentEvent } from '../events/event.ts';
import { type EventFilter, findTold, listEvents, type Position } from '../events/list.ts';
import { isPaymentId } from '../payment.ts';
import { findPaymentOf } from '../queries.ts';
import { paymentNotFound } from '../transition.ts';
import { tenantOf } from './once.ts';

const UNKNOWN_EVENT = 'Must be the id of an event or a next_cursor of an earlier answer.';

export const eventAnswerSchema = z.strictObject({ data: eventSchema });
export const eventListSchema = z.strictObject({
  data: z.array(eventSchema),
  has_more: z.boolean().describe('Whether there may be more behind the last.'),
  next_cursor: z
    .string()
    .nullable()
    .describe('Hand in as `after` for what comes next, now or later. Null before the first event.'),
});

interface EventRoutes {
  database: Database;
}

/** Adds the routes to `app`, whose requests carry a caller by now. */
export function addEventRoutes(app: FastifyInstance, { database }: EventRoutes): void {
  async function answer(request: FastifyRequest, ofPayment?: string) {
    const { limit, after, ...filter } = parseListQuery(request.query);
    const tenant = tenantOf(request);
    const from = await positionOf(request, database, after);
    const wanted = { ...filter, ...(ofPayment && { payment_id: ofPayment }) };
    const { events, has_more, end } = await listEvents(database, tenant, wanted, from, limit);
    const data = events.map(({ event }) => presentEvent(event)).join(',');
    return `{"data":[${data}],"has_more":${has_more},"next_cursor":${JSON.stringify(end?.id ?? null)}}`;
  }

  app.get('/events', (request) => answer(request));
  app.get('/events/:event_id', async (request: FastifyRequest<{ Params: { event_id: string } }>) => {
    const told = await findTold(database, tenantOf(request), request.params.event_id);
    if (!told?.event) throw new OperationalError('not_found', 'There is no such event.');
    return `{"data":${presentEvent(told.event)}}`;
  });
  app.get(
    '/payments/:payment_id/events',
    async (request: FastifyRequest<{ Params: { payment_id: string } }>) => {
      const { payment_id } = request.params;
      if (!isPaymentId(payment_id) || !(await findPaymentOf(database, tenantOf(request), payment_id)))
        throw paymentNotFound();
      return answer(request, payment_id);
    },
  );
}

/** The position that an id names among the caller's events. Throws `validation_failed` where it names none. */
export async function positionOf(
  request: FastifyRequest,
  database: Database,
  after: string | undefined,
): Promise<Position | undefined> {
  if (after === undefined) return undefined;
  const position = await findTold(database, tenantOf(request), after);
  if (!position) throw validationFailed({ after: UNKNOWN_EVENT });
  return position;
}

/** Checks the list's query. Throws `validation_failed` with every fault; parameters it does not know are ignored. */
function parseListQuery(query: unknown): EventFilter & { limit: number; after: string | undefined } {
  const reader = new QueryReader(query);
  const limit = reader.limit();
  const filter = readFilter(reader);
  reader.end();
  return { limit, ...filter };
}

/** Reads which events are wanted, and behind which: of the list and of the stream. */
export function readFilter(reader: QueryReader): EventFilter & { after: string | undefined } {
  const types = reader.someOf('type', EVENT_TYPES);
  const payment_id = reader.text('payment_id', (text) =>
    isPaymentId(text) ? undefined : 'Must be the id of a payment.',
  );
  return { types, payment_id, after: reader.text('after') };
}
