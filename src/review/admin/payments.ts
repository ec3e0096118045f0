// Payments of all merchants under /admin: the queue and other lists, and one payment with everything known about it.
import type { AdminParts } from '../../administrators/admin/authenticate.ts';
import { isPaymentId, type Payment, STATUSES, type Status } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import {
  type ApiEndpoint,
  endpoint,
  limitParameter,
  livemodeParameter,
  parameter,
  shortParameter,
  wordParameter,
} from '../../web/endpoint.ts';
import { fromCursor, listSchema, listText, pageOf, type QueryReader } from '../../web/list.ts';
import { referenceMeant } from '../meaning.ts';
import { listQueue, type QueuePlace, queuePlace, searchPayments } from '../queries.ts';
import { presentList, presentWhole, reviewedPaymentSchema, WHOLE } from './present.ts';

const reviewedPaymentListSchema = listSchema(reviewedPaymentSchema);

/** The queue has an order of its own. */
const QUEUE: Status = 'requires_review';

/** The endpoints that list and read payments. */
export const paymentReads = (parts: AdminParts): ApiEndpoint[] => [
  endpoint('GET /admin/payments', {
    id: 'listPaymentsForReview',
    summary: 'Payments of all merchants',
    description:
      'Newest first; with `status=requires_review` in the order of the queue instead: those that wait longest first. ' +
      'With `reference` always newest first. A cursor belongs to the order it came from. ' +
      'A parameter that is none of these is an error.',
    may: 'read',
    query: {
      status: wordParameter(STATUSES, 'Only those in this status.'),
      merchant: shortParameter('Only those of the merchant with this id.'),
      reference: shortParameter(
        "Only those whose transfer's, merchant's or bank's reference, or whose payer's account, this is. Spaces and letter case do not count in a transfer's reference.",
      ),
      livemode: livemodeParameter('Only live payments, or only test payments.'),
      limit: limitParameter,
      cursor: placeParameter,
    },
    refusesOthers: true,
    answers: { 200: { body: ['ReviewedPaymentList', reviewedPaymentListSchema] } },
    errors: ['validation_failed'],
    async handle({ query: { status, merchant: merchant_id, reference, livemode: mode, limit, cursor } }) {
      const { database, clock } = parts;
      const now = clock.now();
      const meant = reference === undefined ? {} : await referenceMeant(database, reference);
      const found = cursor.isQueue
        ? await listQueue(database, { merchant_id, mode }, cursor.after, limit + 1)
        : await searchPayments(
            database,
            { ...meant, status, merchant_id, mode },
            cursor.before,
            limit + 1,
            now,
          );
      const { page, next } = pageOf(found, limit, cursor.isQueue ? placeText : undefined);
      return listText(await presentList(page, parts, now), next);
    },
  }),
  endpoint('GET /admin/payments/{payment_id}', {
    id: 'readPaymentForReview',
    summary: 'A payment with what was submitted, its review and its history',
    may: 'read',
    answers: { 200: { body: WHOLE } },
    errors: ['not_found'],
    async handle({ request }) {
      const { payment_id } = request.params;
      const payment = isPaymentId(payment_id) ? await findPayment(parts.database, payment_id) : undefined;
      if (!payment) throw paymentNotFound();
      return await presentWhole(payment, parts, parts.clock.now());
    },
  }),
];

/** Where the page before ended: in the queue, which has an order of its own, or among all. */
const placeParameter = parameter({ type: 'string' }, 'The `next_cursor` of an earlier answer.', placeIn);

function placeIn(reader: QueryReader) {
  const isQueue = reader.oneOf('status', STATUSES) === QUEUE && reader.text('reference') === undefined;
  return isQueue
    ? { isQueue, after: reader.cursor(placeBehind) }
    : { isQueue, before: reader.idCursor(isPaymentId) };
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
