// Payments of all merchants under /admin: lists, one payment with all that is known of it, and the acts that decide and record money.

import type { FastifyReply } from 'fastify';
import type { AdminParts } from '../../administrators/admin/authenticate.ts';
import type { Work } from '../../journal/transaction.ts';
import { type ErrorDetails, validationFailed } from '../../lib/errors.ts';
import { saysNothing } from '../../lib/faults.ts';
import { isPaymentId, type Payment, STATUSES, type Status } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { DEFAULT_CURRENCY } from '../../payments/request.ts';
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
import { approve, type Decision, reject } from '../decide.ts';
import { referenceMeant } from '../meaning.ts';
import { listQueue, type QueuePlace, queuePlace } from '../queue-queries.ts';
import { parseReceivedMoney, receivedMoneySchema, recordMoney } from '../record-money.ts';
import { approvalSchema, type Parsed, parse, rejectionSchema } from '../review.ts';
import { searchPayments } from '../search-queries.ts';
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

/** What an act comes to. */
type Acted = Omit<Decision, 'outcome'> & { outcome: Decision['outcome'] | 'recorded' };

const ONCE =
  'Needs no idempotency key: a decision moves the payment only from `requires_review`, so that a repeated one changes nothing and ' +
  'answers 409 `invalid_status`, whose message says who decided and when. 409 `conflict`: another administrator is reviewing it, or ' +
  'it is no longer the `version` that was named, or it was changed outside the service. 403 `forbidden`: the role of the token is auditor';

const RECORDING =
  'The payment is under review then, and is approved or rejected as any other. One that was cancelled has the `status_reason` ' +
  '`payment_received`. To one that is under review it is added, if money is known of it already. Needs no idempotency key: money of an ' +
  'amount that is known already is 409 `invalid_status`, whose message says who recorded it and when, unless `as` says what it is. ' +
  'Name the `version` where `as` is `besides`, so that a repeated call adds nothing. 409 `conflict`: another administrator is reviewing it, or it is no longer the `version` that was named, or it was changed outside the ' +
  'service. 403 `forbidden`: the role of the token is auditor.';

const FIRST_OF_TWO =
  'The first of two approvals is recorded: the payment is still `requires_review`, with `awaiting_second` true, until ' +
  'another administrator approves it.';

const DONE = { description: 'Done.', body: WHOLE };

const ERRORS = ['forbidden', 'not_found', 'invalid_status', 'conflict'] as const;

/** The endpoints that approve, reject and record money. */
export function decisionEndpoints(parts: AdminParts): ApiEndpoint[] {
  const { database, journal, clock, fourEyesAbove } = parts;

  /** Does `work`, and answers with the payment as it is then: 202 where another administrator has yet to approve. */
  async function act(id: string, reply: FastifyReply, work: Work<Acted>) {
    if (!isPaymentId(id)) throw paymentNotFound();
    const { payment, outcome } = await journal.commit(work, id);
    const answer = await presentWhole(payment, parts, clock.now());
    reply.code(outcome === 'awaiting_second' ? 202 : 200);
    return answer;
  }

  return [
    endpoint('POST /admin/payments/{payment_id}/approve', {
      id: 'approvePayment',
      summary: 'Approve a payment under review',
      description: `${ONCE}, or the first of two approvals came from the same administrator.`,
      may: 'decide',
      body: ['Approval', approvalSchema],
      parse: (values) => valueIn(values, parse(approvalSchema, values)),
      answers: { 200: DONE, 202: { description: FIRST_OF_TWO, body: WHOLE } },
      errors: ERRORS,
      handle: ({ request: { params, principal }, reply, body }) =>
        act(params.payment_id, reply, (transaction) =>
          approve(transaction, principal, params.payment_id, body, fourEyesAbove),
        ),
    }),
    endpoint('POST /admin/payments/{payment_id}/reject', {
      id: 'rejectPayment',
      summary: 'Reject a payment under review',
      description: `${ONCE}.`,
      may: 'decide',
      body: ['Rejection', rejectionSchema],
      parse: (values) => valueIn(values, parse(rejectionSchema, values)),
      answers: { 200: DONE },
      errors: ERRORS,
      handle: ({ request: { params, principal }, reply, body }) =>
        act(params.payment_id, reply, (transaction) =>
          reject(transaction, principal, params.payment_id, body),
        ),
    }),
    endpoint('POST /admin/payments/{payment_id}/record', {
      id: 'recordMoney',
      summary: 'Record money that arrived for a payment',
      description: RECORDING,
      may: 'decide',
      body: ['ReceivedMoney', receivedMoneySchema],
      parse: (values) => values,
      answers: { 200: DONE },
      errors: ERRORS,
      async handle({ request: { params, principal }, reply, body }) {
        const { payment_id } = params;
        const found = isPaymentId(payment_id) ? await findPayment(database, payment_id) : undefined;
        // Report a fault of the body before a missing payment, as every endpoint does.
        const currency = found?.currency ?? DEFAULT_CURRENCY;
        const money = valueIn(body, parseReceivedMoney(body, currency, clock.now()));
        return act(payment_id, reply, async (transaction) => ({
          payment: await recordMoney(transaction, principal, payment_id, money),
          outcome: 'recorded',
        }));
      },
    }),
  ];
}

/** The value of a body, which was read as `read`. Throws `validation_failed` with every fault. */
function valueIn<T>(values: Record<string, unknown>, read: Parsed<T>): T {
  const faults: ErrorDetails = 'faults' in read ? read.faults : {};
  if (typeof values.version === 'string' && !saysNothing(values.version))
    faults.version = 'Must be a whole number.'; // forms alone send it as text
  if ('faults' in read || Object.keys(faults).length > 0) throw validationFailed(faults);
  return read.value;
}
