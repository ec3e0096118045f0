// The payments' endpoints under /v1: create, list and cancel.

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Journal } from '../../journal/journal.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { validationFailed } from '../../lib/errors.ts';
import { fieldPath } from '../../lib/faults.ts';
import { editDistance, textFault } from '../../lib/text.ts';
import type { Clock } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import {
  type ApiEndpoint,
  endpoint,
  idCursorParameter,
  limitParameter,
  textParameter,
  wordParameter,
} from '../../web/endpoint.ts';
import { listSchema, listText, pageOf } from '../../web/list.ts';
import { note } from '../../web/request-log.ts';
import { createPayment } from '../create.ts';
import { changesBehind, changesFrom, listChanged } from '../events/list.ts';
import type { PaymentTerms } from '../pay-by.ts';
import { isPaymentId, STATUSES, type Status } from '../payment.ts';
import { paymentSchema, presentPayment } from '../present.ts';
import { listPayments, type Tenant } from '../queries.ts';
import { customerSchema, parsePaymentRequest, paymentRequestSchema } from '../request.ts';
import { paymentNotFound, transition } from '../transition.ts';
import { type AnswerOnce, actOf, paymentAnswer, tenantOf } from './once.ts';

export const paymentAnswerSchema = z.strictObject({ data: paymentSchema });
const paymentListSchema = listSchema(paymentSchema).extend({
  next_updated_cursor: z
    .string()
    .optional()
    .describe('Only with `updated_after`: hand in as `updated_after` for what changes next, now or later.'),
});

export interface PaymentRoutes {
  database: Database;
  journal: Journal;
  clock: Clock;
  baseUrl: string;
  checkoutBaseUrl: string;
  terms: PaymentTerms;
  /** Production: plain http addresses are refused. */
  httpsOnly: boolean;
}

const REFERENCE_MAXIMUM = 255;
const UNKNOWN_MOMENT =
  'Must be a time like 2026-11-20T09:30:00+00:00 or a next_updated_cursor of an earlier answer.';

const PAYMENT = ['PaymentAnswer', paymentAnswerSchema] as const;
const CREATED = {
  description: 'Created, `pending`. Send the customer to `data.checkout_url`.',
  body: PAYMENT,
  headers: {
    Location: { schema: { type: 'string' }, description: 'The payment itself.' },
    'Counterfoil-Ignored': {
      required: false,
      description: 'To a test key: the unknown fields that were ignored, each with the one probably meant.',
      schema: { type: 'string', examples: ['"curency" (currency?)'] },
    },
  },
};

/** The endpoints that create, list and cancel. */
export function paymentEndpoints(settings: PaymentRoutes, once: AnswerOnce): ApiEndpoint[] {
  const { baseUrl, checkoutBaseUrl, terms, httpsOnly } = settings;
  const create = endpoint('POST /v1/payments', {
    id: 'createPayment',
    summary: 'Create a payment',
    body: ['PaymentRequest', paymentRequestSchema],
    prefers: true,
    parse: (values, strict) => ({
      wanted: parsePaymentRequest(values, { strict, httpsOnly }),
      ignored: strict ? [] : ignoredFields(values),
    }),
    once: true,
    answers: { 201: CREATED },
    errors: [],
    async handle({ request, reply, bytes, body: { wanted, ignored } }) {
      reply.headers(ignoredIn(ignored, request));
      const act = actOf(request);
      const text = await once(request, reply, { route: 'POST /v1/payments', body: bytes }, (transaction) => {
        const payment = createPayment(transaction, request.caller, act, wanted, terms);
        return paymentAnswer(payment, 201, checkoutBaseUrl, transaction.now);
      });
      reply.header('location', `${baseUrl}/v1/payments/${/"id":"(\w+)"/.exec(text)![1]}`);
      return text;
    },
  });

  const cancel = endpoint('POST /v1/payments/{payment_id}/cancel', {
    id: 'cancelPayment',
    summary: 'Cancel a payment that is pending',
    description: 'A request body is ignored.',
    once: true,
    answers: { 200: { description: 'Cancelled.', body: PAYMENT } },
    errors: ['not_found', 'invalid_status', 'conflict'],
    handle({ request, reply }) {
      const { payment_id } = request.params;
      const act = actOf(request);
      if (!isPaymentId(payment_id)) throw paymentNotFound();
      const work = async (transaction: Transaction) => {
        const facts = { key: request.caller.key.id };
        const reason = { status_reason: 'cancelled_by_merchant' } as const;
        const tenant = tenantOf(request);
        const payment = await transition(transaction, tenant, payment_id, 'cancel', act, reason, facts);
        return paymentAnswer(payment, 200, checkoutBaseUrl, transaction.now);
      };
      const route = 'POST /v1/payments/:payment_id/cancel';
      return once(request, reply, { route, body: payment_id, row: payment_id }, work);
    },
  });
  return [create, listOne(settings), cancel];
}

function listOne({ database, clock, checkoutBaseUrl }: PaymentRoutes): ApiEndpoint {
  async function listUpdated(
    tenant: Tenant,
    updatedAfter: string,
    filter: { merchant_reference: string | undefined; status: Status | undefined },
    limit: number,
    now: number,
  ) {
    const moment = parseMoment(updatedAfter);
    const since =
      moment === undefined
        ? await changesBehind(database, tenant, updatedAfter)
        : await changesFrom(database, moment);
    if (!since) throw validationFailed({ updated_after: UNKNOWN_MOMENT });
    const { payments, has_more, end } = await listChanged(database, tenant, since, filter, limit, now);
    const data = payments.map((payment) => presentPayment(payment, checkoutBaseUrl, now)).join(',');
    const next = JSON.stringify(end ?? updatedAfter);
    return `{"data":[${data}],"has_more":${has_more},"next_cursor":null,"next_updated_cursor":${next}}`;
  }

  return endpoint('GET /v1/payments', {
    id: 'listPayments',
    summary: "List the merchant's payments, newest first",
    query: {
      limit: limitParameter,
      merchant_reference: textParameter(
        'Only those with exactly this reference.',
        (text) => textFault(text, REFERENCE_MAXIMUM),
        { maxLength: REFERENCE_MAXIMUM },
      ),
      status: wordParameter(STATUSES, 'Only those in this status.'),
      cursor: idCursorParameter(isPaymentId),
      updated_after: textParameter(
        'An RFC 3339 time, or the `next_updated_cursor` of an earlier answer: only payments that changed then or later, each once, oldest change first. Not together with `cursor`.',
      ),
    },
    answers: { 200: { description: 'A page of payments.', body: ['PaymentList', paymentListSchema] } },
    errors: ['validation_failed'],
    async handle({ request, query: { limit, cursor: before, updated_after, ...filter } }) {
      if (before !== undefined && updated_after !== undefined)
        throw validationFailed({ cursor: 'Must not be given with updated_after.' });
      const tenant = tenantOf(request);
      const now = clock.now();
      if (updated_after !== undefined) return listUpdated(tenant, updated_after, filter, limit, now);
      const found = await listPayments(database, { ...tenant, ...filter, before, limit: limit + 1, now });
      const { page, next } = pageOf(found, limit);
      const items = page.map((payment) => presentPayment(payment, checkoutBaseUrl, now));
      return listText(items, next);
    },
  });
}

function ignoredIn(
  ignored: ReturnType<typeof ignoredFields>,
  request: FastifyRequest,
): Record<string, string> {
  if (request.caller.key.mode !== 'test') return {};
  if (ignored.length > 0)
    note(request, { ignored: [...new Set(ignored.map(({ meant }) => meant ?? 'other'))] });
  return ignoredHeader(ignored);
}

/** An RFC 3339 time in milliseconds since 1970. A `+` that was not escaped in the address arrives as a space. */
function parseMoment(text: string): number | undefined {
  const moment = z.iso.datetime({ offset: true }).safeParse(text.replace(' ', '+'));
  return moment.success ? Date.parse(moment.data) : undefined;
}

/** A name this many letters away from a known one is taken for a slip. */
const SLIP_LETTERS = 2;
const NAMED_MAXIMUM = 8;

interface IgnoredField {
  /** The path as an answer may show it. */
  name: string;
  /** The known field that was probably meant. */
  meant: string | undefined;
}

/** The first unknown fields of a checked body, at most 8. What is below `metadata` is the merchant's own. */
function ignoredFields(body: unknown): IgnoredField[] {
  const fields = body as Record<string, unknown>;
  const below = typeof fields.customer === 'object' && fields.customer !== null ? fields.customer : {};
  return [
    ...unknownAmong(Object.keys(fields), Object.keys(paymentRequestSchema.shape), []),
    ...unknownAmong(Object.keys(below), Object.keys(customerSchema.shape), ['customer']),
  ].slice(0, NAMED_MAXIMUM);
}

function unknownAmong(
  names: readonly string[],
  known: readonly string[],
  path: readonly string[],
): IgnoredField[] {
  const isSlip = (name: string, one: string) =>
    Math.abs(name.length - one.length) <= SLIP_LETTERS &&
    editDistance(name.toLowerCase(), one) <= SLIP_LETTERS;
  return names
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = known.find((one) => isSlip(name, one));
      return { name: fieldPath([...path, name]), meant: meant && [...path, meant].join('.') };
    });
}

/** The header that names them: `Counterfoil-Ignored: "curency" (currency?), "colour"`. */
function ignoredHeader(ignored: readonly IgnoredField[]): Record<string, string> {
  if (ignored.length === 0) return {};
  const named = ignored.map(({ name, meant }) => `"${name}"${meant ? ` (${meant}?)` : ''}`);
  return { 'counterfoil-ignored': named.join(', ') };
}
