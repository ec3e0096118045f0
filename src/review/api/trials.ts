// POST /v1/test/payments/{id}/{trial}: a test key brings its payments to every state without a person.

import { z } from 'zod';
import type { Transaction } from '../../journal/transaction.ts';
import { validationFailed } from '../../lib/errors.ts';
import { optional } from '../../lib/faults.ts';
import { INEXACT } from '../../lib/json.ts';
import { INEXACT_AMOUNT } from '../../lib/money.ts';
import { type AnswerOnce, paymentAnswer, tenantOf } from '../../payments/api/once.ts';
import { type PaymentRoutes, paymentAnswerSchema } from '../../payments/api/payments.ts';
import { isPaymentId } from '../../payments/payment.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { type ApiEndpoint, endpoint } from '../../web/endpoint.ts';
import { receivedMoneySchema } from '../record-money.ts';
import { parse, triedRejectionSchema } from '../review.ts';
import { TRIALS, type Trial, type TryOut, tryOut } from '../try-out.ts';

const NAMES: Record<Trial, readonly [operationId: string, summary: string, done: string]> = {
  submit: [
    'submitTestPayment',
    'Submit a test payment, as its customer would',
    'Submitted: `requires_review`.',
  ],
  approve: ['approveTestPayment', 'Approve a test payment, as a reviewer would', 'Approved.'],
  reject: ['rejectTestPayment', 'Reject a test payment, as a reviewer would', 'Rejected.'],
  expire: [
    'expireTestPayment',
    'End the time of a pending test payment now',
    'Cancelled, with `status_reason` `expired`.',
  ],
  record: [
    'recordTestPayment',
    'Record that money arrived for a pending or cancelled test payment: all of it, or `amount`',
    'Recorded: `requires_review`. A pending payment has the event `payment.money_received`, a cancelled one `payment.reopened`.',
  ],
  request_link: [
    'requestTestPaymentLink',
    'Ask for a new link to an expired test payment, as its customer would',
    'Asked for: `link_requested_at` is set.',
  ],
};

/** Money that a developer lets arrive. */
const triedMoneySchema = z.strictObject(
  {
    amount: optional(receivedMoneySchema.shape.amount).describe(
      'How much arrived. It may be less or more than the payment asks for. Default: all of it.',
    ),
  },
  'Must be an object.',
);

/** What the body of a trial says; those without a row take none. */
type Said = Pick<TryOut, 'rejection' | 'amount'>;
const BODIES: Partial<
  Record<Trial, { body: [string, z.ZodType]; parse: (values: Record<string, unknown>) => Said }>
> = {
  reject: { body: ['TriedRejection', triedRejectionSchema], parse: rejectionIn },
  record: { body: ['TriedMoney', triedMoneySchema], parse: moneyIn },
};

/** The endpoints of trying out. */
export const trialEndpoints = ({ checkoutBaseUrl }: PaymentRoutes, once: AnswerOnce): ApiEndpoint[] =>
  TRIALS.map((trial) => {
    const [id, summary, done] = NAMES[trial];
    const taken = BODIES[trial];
    return endpoint(`POST /v1/test/payments/{payment_id}/${trial}`, {
      id,
      summary,
      description: `For test keys. A live key gets 404, and so does the id of a live payment.${taken ? '' : ' A request body is ignored.'}`,
      ...(taken && { ...taken, mayBeMissing: true }),
      once: true,
      answers: { 200: { description: done, body: ['PaymentAnswer', paymentAnswerSchema] } },
      errors: ['not_found', 'invalid_status', 'conflict'],
      handle({ request, reply, bytes, body: said }) {
        const { payment_id } = request.params;
        const { merchant_id, mode } = tenantOf(request);
        if (mode !== 'test' || !isPaymentId(payment_id)) throw paymentNotFound();
        const facts = { key: request.caller.key.id };
        const asked: TryOut = { id: payment_id, merchant_id, requestId: request.id, facts, ...said };
        const work = async (transaction: Transaction) =>
          paymentAnswer(await tryOut(transaction, trial, asked), 200, checkoutBaseUrl, transaction.now);
        const route = `POST /v1/test/payments/:payment_id/${trial}`;
        return once(request, reply, { route, body: `${payment_id} ${bytes}`, row: payment_id }, work);
      },
    });
  });

/** How a payment is rejected; the default of its reason is `other`. Throws `validation_failed`. */
function rejectionIn(values: Record<string, unknown>): Said {
  const parsed = parse(triedRejectionSchema, values);
  if ('faults' in parsed) throw validationFailed(parsed.faults);
  return { rejection: { ...parsed.value, reason: parsed.value.reason ?? 'other' } };
}

/** How much money arrives. Throws `validation_failed`. */
function moneyIn(values: Record<string, unknown>): Said {
  if (values.amount === INEXACT) throw validationFailed({ amount: INEXACT_AMOUNT });
  const parsed = parse(triedMoneySchema, values);
  if ('faults' in parsed) throw validationFailed(parsed.faults);
  return { amount: parsed.value.amount ?? undefined };
}
