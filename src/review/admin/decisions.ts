// Approving, rejecting and recording money under /admin: the same acts as the console's, on the same terms.
import type { FastifyReply } from 'fastify';
import type { AdminParts } from '../../administrators/admin/authenticate.ts';
import type { Work } from '../../journal/transaction.ts';
import { type ErrorDetails, validationFailed } from '../../lib/errors.ts';
import { saysNothing } from '../../lib/faults.ts';
import { isPaymentId } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { DEFAULT_CURRENCY } from '../../payments/request.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { type ApiEndpoint, endpoint } from '../../web/endpoint.ts';
import { approve, type Decision, reject } from '../decide.ts';
import { parseReceivedMoney, receivedMoneySchema, recordMoney } from '../record-money.ts';
import { approvalSchema, type Parsed, parseApproval, parseRejection, rejectionSchema } from '../review.ts';
import { presentWhole, WHOLE } from './present.ts';

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
      parse: (values) => parsed(values, parseApproval),
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
      parse: (values) => parsed(values, parseRejection),
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
        const money = parsed(body, (values) => parseReceivedMoney(values, currency, clock.now()));
        return act(payment_id, reply, async (transaction) => ({
          payment: await recordMoney(transaction, principal, payment_id, money),
          outcome: 'recorded',
        }));
      },
    }),
  ];
}

/** The value of a body. Throws `validation_failed` with every fault. */
function parsed<T>(
  values: Record<string, unknown>,
  parse: (values: Record<string, unknown>) => Parsed<T>,
): T {
  const read = parse(values);
  const faults: ErrorDetails = 'faults' in read ? read.faults : {};
  if (typeof values.version === 'string' && !saysNothing(values.version))
    faults.version = 'Must be a whole number.'; // forms alone send it as text
  if ('faults' in read || Object.keys(faults).length > 0) throw validationFailed(faults);
  return read.value;
}
