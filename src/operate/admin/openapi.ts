// What the OpenAPI document says of /admin, built from the schemas that check requests and shape answers.

import type { ErrorCode } from '../../lib/errors.ts';
import { STATUSES } from '../../payments/payment.ts';
import { reviewedPaymentListSchema } from '../../review/admin/payments.ts';
import { wholePaymentAnswerSchema } from '../../review/admin/present.ts';
import { receivedMoneySchema } from '../../review/record-money.ts';
import { approvalSchema, rejectionSchema } from '../../review/review.ts';
import {
  ALWAYS,
  BODY_CODES,
  type Description,
  failures,
  json,
  jsonSchema,
  PAGE_PARAMETERS,
  query,
  ref,
  success,
} from '../../web/openapi.ts';
import {
  checkpointAnswerSchema,
  ENTRIES,
  entryAnswerSchema,
  entryListSchema,
  sealAnswerSchema,
} from './audit.ts';

export const UNDER_ADMIN: ErrorCode[] = [...ALWAYS, 'unauthorized', 'rate_limited'];
const DECIDING: ErrorCode[] = [
  ...UNDER_ADMIN,
  'forbidden',
  ...BODY_CODES,
  'not_found',
  'invalid_status',
  'conflict',
];

export const TOKEN_NEEDED = [{ administratorToken: [] }];
const paymentId = { name: 'payment_id', in: 'path', required: true, schema: { type: 'string' } };

const ONCE =
  'Needs no idempotency key: a decision moves the payment only from `requires_review`, so that a repeated one changes nothing and ' +
  'answers 409 `invalid_status`, whose message says who decided and when. 409 `conflict`: another administrator is reviewing it, or ' +
  'it is no longer the `version` that was named, or it was changed outside the service. 403 `forbidden`: the role of the token is auditor';

/** What is read under /admin. `schema` names the schema of the answer. */
export function readOperation(
  operationId: string,
  summary: string,
  schema: string,
  codes: ErrorCode[],
  rest: object = {},
) {
  const responses = { 200: success(`${summary}.`, schema), ...failures([...UNDER_ADMIN, ...codes]) };
  return { get: { operationId, summary, security: TOKEN_NEEDED, ...rest, responses } };
}

const FIRST_OF_TWO =
  'The first of two approvals is recorded: the payment is still `requires_review`, with `awaiting_second` true, until ' +
  'another administrator approves it.';

const RECORDING =
  'The payment is under review then, and is approved or rejected as any other. One that was cancelled has the `status_reason` ' +
  '`payment_received`. Needs no idempotency key: a repeated call changes nothing and answers 409 `invalid_status`, whose message ' +
  'says who recorded money and when. 409 `conflict`: it is no longer the `version` that was named, or it was changed outside the ' +
  'service. 403 `forbidden`: the role of the token is auditor.';

/** What an administrator does with a payment. `body` names a schema. */
function act(operationId: string, summary: string, description: string, body: string, others: object = {}) {
  const parameters = [paymentId];
  const requestBody = { required: true, ...json(ref(body)) };
  const responses = { 200: success('Done.', 'WholePaymentAnswer'), ...others, ...failures(DECIDING) };
  return {
    post: { operationId, summary, description, security: TOKEN_NEEDED, parameters, requestBody, responses },
  };
}

export const adminDescription = (): Description => ({
  paths: {
    '/admin/payments': readOperation(
      'listPaymentsForReview',
      'Payments of all merchants',
      'ReviewedPaymentList',
      ['validation_failed'],
      {
        description:
          'Newest first; with `status=requires_review` in the order of the queue instead: those that wait longest first. ' +
          'With `reference` always newest first. A cursor belongs to the order it came from. ' +
          'A parameter that is none of these is an error.',
        parameters: LIST_PARAMETERS,
      },
    ),
    '/admin/payments/{payment_id}': readOperation(
      'readPaymentForReview',
      'A payment with what was submitted, its review and its history',
      'WholePaymentAnswer',
      ['not_found'],
      { parameters: [paymentId] },
    ),
    '/admin/payments/{payment_id}/approve': act(
      'approvePayment',
      'Approve a payment under review',
      `${ONCE}, or the first of two approvals came from the same administrator.`,
      'Approval',
      { 202: success(FIRST_OF_TWO, 'WholePaymentAnswer') },
    ),
    '/admin/payments/{payment_id}/reject': act(
      'rejectPayment',
      'Reject a payment under review',
      `${ONCE}.`,
      'Rejection',
    ),
    '/admin/payments/{payment_id}/record': act(
      'recordMoney',
      'Record money that arrived for a pending, expired or cancelled payment',
      RECORDING,
      'ReceivedMoney',
    ),
    '/admin/audit/entries': readOperation(
      'listAuditEntries',
      'Entries of the history by their numbers',
      'AuditEntryList',
      ['validation_failed'],
      {
        parameters: [
          query('after', { type: 'integer', minimum: 0, default: 0 }, 'Only those with a higher number.'),
          query(
            'limit',
            { type: 'integer', minimum: 1, maximum: ENTRIES.maximum, default: ENTRIES.default },
            'How many at most.',
          ),
        ],
      },
    ),
    '/admin/audit/entries/{number}': readOperation(
      'readAuditEntry',
      'One entry of the history, and the seal that closes it',
      'AuditEntryAnswer',
      ['not_found'],
      {
        parameters: [{ name: 'number', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } }],
      },
    ),
    '/admin/audit/seal': readOperation('readNewestSeal', 'The newest seal of the history', 'SealAnswer', []),
    '/admin/audit/checkpoint': readOperation(
      'readNewestCheckpoint',
      'The newest checkpoint that this node signed',
      'CheckpointAnswer',
      ['not_found'],
    ),
  },
  securitySchemes: {
    administratorToken: {
      type: 'http',
      scheme: 'bearer',
      description: "An administrator's token, `cfa_…`; for programs that administrators run.",
    },
  },
  schemas: {
    ReviewedPaymentList: jsonSchema(reviewedPaymentListSchema, 'output'),
    WholePaymentAnswer: jsonSchema(wholePaymentAnswerSchema, 'output'),
    Approval: jsonSchema(approvalSchema, 'input'),
    Rejection: jsonSchema(rejectionSchema, 'input'),
    ReceivedMoney: jsonSchema(receivedMoneySchema, 'input'),
    AuditEntryList: jsonSchema(entryListSchema, 'output'),
    AuditEntryAnswer: jsonSchema(entryAnswerSchema, 'output'),
    SealAnswer: jsonSchema(sealAnswerSchema, 'output'),
    CheckpointAnswer: jsonSchema(checkpointAnswerSchema, 'output'),
  },
});

const LIST_PARAMETERS = [
  query('status', { type: 'string', enum: [...STATUSES] }, 'Only those in this status.'),
  query('merchant', { type: 'string', maxLength: 255 }, 'Only those of the merchant with this id.'),
  query(
    'reference',
    { type: 'string', maxLength: 255 },
    "Only those whose transfer's, merchant's or bank's reference, or whose payer's account, this is. Spaces and letter case do not count in a transfer's reference.",
  ),
  query(
    'livemode',
    { type: 'string', enum: ['true', 'false'] },
    'Only live payments, or only test payments.',
  ),
  ...PAGE_PARAMETERS,
];
