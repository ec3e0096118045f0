// Payments of all merchants under /admin: the queue and other lists, and one payment with everything known about it.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AdminParts } from '../../administrators/admin/parts.ts';
import { textFault } from '../../lib/text.ts';
import type { Mode } from '../../merchants/merchant.ts';
import { isPaymentId, type Payment, STATUSES, type Status } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { fromCursor, listSchema, listText, pageOf, QueryReader } from '../../web/list.ts';
import { referenceMeant } from '../meaning.ts';
import { listQueue, type QueuePlace, queuePlace, searchPayments } from '../queries.ts';
import { presentList, presentWhole, reviewedPaymentSchema } from './present.ts';

export const reviewedPaymentListSchema = listSchema(reviewedPaymentSchema);

const MERCHANT_MAXIMUM = 255;
const REFERENCE_MAXIMUM = 255;
/** The queue has an order of its own. */
const QUEUE: Status = 'requires_review';

export type WithId = { Params: { payment_id: string } };

/** Adds the routes to `app`, whose requests carry a principal by now. */
export function addPaymentRoutes(app: FastifyInstance, parts: AdminParts): void {
  const { database, clock } = parts;

  async function list(request: FastifyRequest) {
    const { status, merchant_id, mode, reference, limit, after, before } = parseListQuery(request.query);
    const now = clock.now();
    const isQueue = status === QUEUE && reference === undefined;
    const meant = reference === undefined ? {} : await referenceMeant(database, reference);
    const found = isQueue
      ? await listQueue(database, { merchant_id, mode }, after, limit + 1)
      : await searchPayments(database, { ...meant, status, merchant_id, mode }, before, limit + 1, now);
    const { page, next } = pageOf(found, limit, isQueue ? placeText : undefined);
    const items = await presentList(page, parts, now);
    return listText(items, next);
  }

  async function read(request: FastifyRequest<WithId>) {
    const { payment_id } = request.params;
    const payment = isPaymentId(payment_id) ? await findPayment(database, payment_id) : undefined;
    if (!payment) throw paymentNotFound();
    return await presentWhole(payment, parts, clock.now());
  }

  app.get('/payments', list);
  app.get('/payments/:payment_id', read);
}

interface ListQuery {
  status: Status | undefined;
  merchant_id: string | undefined;
  mode: Mode | undefined;
  reference: string | undefined;
  limit: number;
  /** Where the page before ended: in the queue, or among all. */
  after: QueuePlace | undefined;
  before: string | undefined;
}

/** Checks the list's query. Throws `validation_failed` with every fault, and where it has a parameter that is none of these. */
function parseListQuery(query: unknown): ListQuery {
  const reader = new QueryReader(query);
  const status = reader.oneOf('status', STATUSES);
  const merchant_id = reader.text('merchant', (text) => textFault(text, MERCHANT_MAXIMUM));
  const livemode = reader.oneOf('livemode', ['true', 'false']);
  const limit = reader.limit();
  const reference = reader.text('reference', (text) => textFault(text, REFERENCE_MAXIMUM));
  const inQueue = status === QUEUE && reference === undefined;
  const after = inQueue ? reader.cursor(placeBehind) : undefined;
  const before = inQueue ? undefined : reader.idCursor(isPaymentId);
  reader.refuseOthers();
  reader.end();
  const mode = livemode && (livemode === 'true' ? 'live' : 'test');
  return { status, merchant_id, mode, reference, limit, after, before };
}

/** The place of a payment in the queue: `1763769600000.pay_…`. */
function placeText(payment: Payment): string {
  const { since, id } = queuePlace(payment);
  return `${since}.${id}`;
}

function placeBehind(cursor: string): QueuePlace | undefined {
  const [, since, id] = /^(\d{1,15})\.(\w+)$/.exec(fromCursor(cursor) ?? '') ?? [];
  return id !== undefined && isPaymentId(id) ? { since: Number(since), id } : undefined;
}
