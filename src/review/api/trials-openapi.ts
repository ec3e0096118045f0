// What the OpenAPI document says of trying out: the moves of test payments that a test key makes without a person.

import type { ErrorCode } from '../../lib/errors.ts';
import { answer, idempotencyKey, paymentId, refusals, security } from '../../payments/api/openapi.ts';
import { type Description, json, jsonSchema, ref } from '../../web/openapi.ts';
import { triedRejectionSchema } from '../review.ts';
import { TRIALS, type Trial } from '../try-out.ts';

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
    'Record that the whole amount of a pending or cancelled test payment arrived',
    'Recorded: `requires_review`. A pending payment has the event `payment.money_received`, a cancelled one `payment.reopened`.',
  ],
  request_link: [
    'requestTestPaymentLink',
    'Ask for a new link to an expired test payment, as its customer would',
    'Asked for: `link_requested_at` is set.',
  ],
};
const CODES: ErrorCode[] = [
  'not_found',
  'invalid_status',
  'conflict',
  'validation_failed',
  'idempotency_key_reused',
  'idempotency_in_progress',
];
const OF_A_BODY: ErrorCode[] = ['invalid_json', 'payload_too_large', 'unsupported_media_type'];

const operation = (trial: Trial): object => {
  const [operationId, summary, done] = NAMES[trial];
  const takesBody = trial === 'reject';
  return {
    operationId,
    summary,
    description: `For test keys. A live key gets 404, and so does the id of a live payment.${takesBody ? '' : ' A request body is ignored.'}`,
    security,
    parameters: [paymentId, idempotencyKey],
    ...(takesBody && { requestBody: { required: false, ...json(ref('TriedRejection')) } }),
    responses: {
      200: answer(done, 'PaymentAnswer'),
      ...refusals(takesBody ? [...CODES, ...OF_A_BODY] : CODES),
    },
  };
};

export const trialDescription = (): Description => ({
  paths: Object.fromEntries(
    TRIALS.map((trial) => [`/v1/test/payments/{payment_id}/${trial}`, { post: operation(trial) }]),
  ),
  schemas: { TriedRejection: jsonSchema(triedRejectionSchema, 'input') },
});
