// The payments' endpoints under /v1: create, list and cancel.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Journal } from '../../journal/journal.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { validationFailed } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import { textFault } from '../../lib/text.ts';
import type { Clock } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import { prefersStrictHandling, STRICT_APPLIED } from '../../web/headers.ts';
import { bodyOf, ignoreBody, takeJson } from '../../web/json-body.ts';
import { listSchema, listText, pageOf, QueryReader } from '../../web/list.ts';
import { note } from '../../web/request-log.ts';
import { createPayment } from '../create.ts';
import { changesBehind, changesFrom, listChanged } from '../events/changed.ts';
import { ignoredFields, ignoredHeader } from '../ignored-fields.ts';
import type { PaymentTerms } from '../pay-by.ts';
import { isPaymentId, STATUSES, type Status } from '../payment.ts';
import { paymentSchema, presentPayment } from '../present.ts';
import { listPayments } from '../queries.ts';
import { parsePaymentRequest } from '../request.ts';
import { paymentNotFound, transition } from '../transition.ts';
import {
  type AnswerOnce,
  actOf,
  checkIdempotencyKey,
  paymentAnswer,
  tenantOf,
  withIdempotencyKeyChecked,
} from './once.ts';

export const paymentAnswerSchema = z.strictObject({ data: paymentSchema });
export const paymentListSchema = listSchema(paymentSchema).extend({
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

const UNKNOWN_MOMENT =
  'Must be a time like 2026-11-20T09:30:00+00:00 or a next_updated_cursor of an earlier answer.';

type WithId = { Params: { payment_id: string } };

/** Adds the routes to `app`, whose requests carry a caller by now. */
export function addPaymentRoutes(app: FastifyInstance, settings: PaymentRoutes, once: AnswerOnce): void {
  addReads(app, settings);
  addWrites(app, settings, once);
}

function addWrites(app: FastifyInstance, settings: PaymentRoutes, once: AnswerOnce): void {
  const { baseUrl, checkoutBaseUrl, terms, httpsOnly } = settings;

  async function create(request: FastifyRequest, reply: FastifyReply) {
    const bytes = bodyOf(request);
    const body = parseJson(bytes);
    const strict = prefersStrictHandling(request.headers);
    const wanted = withIdempotencyKeyChecked(request, () => parsePaymentRequest(body, { strict, httpsOnly }));
    reply.headers(strict ? STRICT_APPLIED : ignoredIn(body, request));
    const act = actOf(request);
    const text = await once(request, reply, { route: 'POST /v1/payments', body: bytes }, (transaction) => {
      const payment = createPayment(transaction, request.caller, act, wanted, terms);
      return paymentAnswer(payment, 201, checkoutBaseUrl, transaction.now);
    });
    reply.header('location', `${baseUrl}/v1/payments/${/"id":"(\w+)"/.exec(text)![1]}`);
    return text;
  }

  async function cancel(request: FastifyRequest<WithId>, reply: FastifyReply) {
    const { payment_id } = request.params;
    const act = actOf(request);
    checkIdempotencyKey(request);
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
  }

  app.register(async (scope) => {
    takeJson(scope);
    scope.post('/payments', create);
  });
  app.register(async (scope) => {
    ignoreBody(scope);
    scope.post('/payments/:payment_id/cancel', cancel);
  });
}

function addReads(app: FastifyInstance, { database, clock, checkoutBaseUrl }: PaymentRoutes): void {
  async function list(request: FastifyRequest) {
    const { limit, updated_after, ...filter } = parseListQuery(request.query);
    const now = clock.now();
    if (updated_after !== undefined) return listUpdated(request, updated_after, filter, limit, now);
    const found = await listPayments(database, { ...tenantOf(request), ...filter, limit: limit + 1, now });
    const { page, next } = pageOf(found, limit);
    const items = page.map((payment) => presentPayment(payment, checkoutBaseUrl, now));
    return listText(items, next);
  }

  async function listUpdated(
    request: FastifyRequest,
    updatedAfter: string,
    filter: Pick<ListQuery, 'merchant_reference' | 'status'>,
    limit: number,
    now: number,
  ) {
    const tenant = tenantOf(request);
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

  app.get('/payments', list);
}

/** The header that names ignored fields to a developer. The log gets those that were probably meant: other names are the caller's. */
function ignoredIn(body: unknown, request: FastifyRequest): Record<string, string> {
  if (request.caller.key.mode !== 'test') return {};
  const ignored = ignoredFields(body);
  if (ignored.length > 0)
    note(request, { ignored: [...new Set(ignored.map(({ meant }) => meant ?? 'other'))] });
  return ignoredHeader(ignored);
}

interface ListQuery {
  limit: number;
  before: string | undefined;
  merchant_reference: string | undefined;
  status: Status | undefined;
  updated_after: string | undefined;
}

/** Checks the list's query. Throws `validation_failed` with every fault; parameters it does not know are ignored. */
function parseListQuery(query: unknown): ListQuery {
  const reader = new QueryReader(query);
  const limit = reader.limit();
  const merchant_reference = reader.text('merchant_reference', (text) => textFault(text, 255));
  const status = reader.oneOf('status', STATUSES);
  const before = reader.idCursor(isPaymentId);
  const updated_after = reader.text('updated_after');
  reader.end();
  if (before !== undefined && updated_after !== undefined)
    throw validationFailed({ cursor: 'Must not be given with updated_after.' });
  return { limit, before, merchant_reference, status, updated_after };
}

/** An RFC 3339 time in milliseconds since 1970. A `+` that was not escaped in the address arrives as a space. */
function parseMoment(text: string): number | undefined {
  const moment = z.iso.datetime({ offset: true }).safeParse(text.replace(' ', '+'));
  return moment.success ? Date.parse(moment.data) : undefined;
}
