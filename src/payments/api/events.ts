// The events' endpoints under /v1: a merchant lists its events, those of one payment, and reads one.
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { OperationalError, validationFailed } from '../../lib/errors.ts';
import type { Database } from '../../store/database.ts';
import {
  type ApiEndpoint,
  endpoint,
  limitParameter,
  textParameter,
  wordsParameter,
} from '../../web/endpoint.ts';
import { EVENT_TYPES, type EventType, eventSchema, presentEvent } from '../events/event.ts';
import { findTold, listEvents, type Position } from '../events/list.ts';
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
export const FILTER = {
  after: textParameter('An event id or the `next_cursor` of an earlier answer: only what came later.'),
  type: wordsParameter(EVENT_TYPES, 'Only events of these types, parted by commas.'),
};
const OF_A_PAYMENT = { limit: limitParameter, ...FILTER };
export const paymentIdParameter = textParameter('Only events of this payment.', (text) =>
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
