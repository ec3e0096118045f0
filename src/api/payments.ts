// The payments' endpoints under /v1: create, read, list and cancel.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Database } from '../database/database.ts';
import { API_HEADERS } from '../http/headers.ts';
import { bodyOf, ignoreBody, takeJson } from '../http/json-body.ts';
import { fromCursor, LIMIT, listSchema, listText, QueryReader, toCursor } from '../http/list.ts';
import { prefersStrictHandling, STRICT_APPLIED } from '../http/prefer.ts';
import { note } from '../http/request-log.ts';
import type { Act } from '../journal/audit-entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction, Work } from '../journal/transaction.ts';
import { type ErrorDetails, OperationalError, validationFailed } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { textFault } from '../lib/text.ts';
import type { Clock } from '../lib/time.ts';
import { createPayment } from '../payments/create.ts';
import { type Answer, Idempotency } from '../payments/idempotency.ts';
import { ignoredFields, ignoredHeader } from '../payments/ignored-fields.ts';
import { isPaymentId, type Payment, STATUSES, type Status } from '../payments/payment.ts';
import { paymentSchema, presentPayment } from '../payments/present.ts';
import { findPaymentOf, listPayments, type Tenant } from '../payments/queries.ts';
import { parsePaymentRequest } from '../payments/request.ts';
import { paymentNotFound, transition } from '../payments/transition.ts';

const IDEMPOTENCY_KEY_MAXIMUM = 255;

export const paymentAnswerSchema = z.strictObject({ data: paymentSchema });
export const paymentListSchema = listSchema(paymentSchema);

export interface PaymentRoutes {
  database: Database;
  journal: Journal;
  clock: Clock;
  baseUrl: string;
  checkoutBaseUrl: string;
  lifetimeS: number;
  /** Production: plain http addresses are refused. */
  httpsOnly: boolean;
}

type WithId = { Params: { payment_id: string } };

/** Adds the routes to `app`, whose requests carry a caller by now. */
export function addPaymentRoutes(app: FastifyInstance, settings: PaymentRoutes): void {
  addReads(app, settings);
  addWrites(app, settings);
}

function addWrites(app: FastifyInstance, settings: PaymentRoutes): void {
  const { database, journal, clock, baseUrl, checkoutBaseUrl, lifetimeS, httpsOnly } = settings;
  const answering = { journal, idempotency: new Idempotency(database, journal, clock) };
  const done = (payment: Payment, status: number, now: number): Answer => ({
    status,
    body: `{"data":${presentPayment(payment, checkoutBaseUrl, now)}}`,
  });

  async function create(request: FastifyRequest, reply: FastifyReply) {
    const bytes = bodyOf(request);
    const body = parseJson(bytes);
    const strict = prefersStrictHandling(request.headers);
    const wanted = withIdempotencyKeyChecked(request, () => parsePaymentRequest(body, { strict, httpsOnly }));
    reply.headers(strict ? STRICT_APPLIED : ignoredIn(body, request));
    const act: Act = { actor: request.caller.actor, request_id: request.id };
    const text = await answer(request, reply, answering, 'POST /v1/payments', bytes, (transaction) => {
      const payment = createPayment(transaction, request.caller, act, wanted, lifetimeS);
      return done(payment, 201, transaction.now);
    });
    reply.header('location', `${baseUrl}/v1/payments/${/"id":"(\w+)"/.exec(text)![1]}`);
    return text;
  }

  async function cancel(request: FastifyRequest<WithId>, reply: FastifyReply) {
    const { payment_id } = request.params;
    const act: Act = { actor: request.caller.actor, request_id: request.id };
    withIdempotencyKeyChecked(request, () => {});
    if (!isPaymentId(payment_id)) throw paymentNotFound();
    const work = async (transaction: Transaction) => {
      const facts = { key: request.caller.key.id };
      const reason = { status_reason: 'cancelled_by_merchant' } as const;
      const tenant = tenantOf(request);
      const payment = await transition(transaction, tenant, payment_id, 'cancel', act, reason, facts);
      return done(payment, 200, transaction.now);
    };
    const route = 'POST /v1/payments/:payment_id/cancel';
    return answer(request, reply, answering, route, payment_id, work, payment_id);
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
  const present = (payment: Payment, now: number) => presentPayment(payment, checkoutBaseUrl, now);

  async function read(request: FastifyRequest<WithId>, reply: FastifyReply) {
    const { payment_id } = request.params;
    const payment = isPaymentId(payment_id)
      ? await findPaymentOf(database, tenantOf(request), payment_id)
      : undefined;
    if (!payment) throw paymentNotFound();
    reply.headers(API_HEADERS);
    return `{"data":${present(payment, clock.now())}}`;
  }

  async function list(request: FastifyRequest, reply: FastifyReply) {
    const { limit, ...filter } = parseListQuery(request.query);
    const now = clock.now();
    const found = await listPayments(database, { ...tenantOf(request), ...filter, limit: limit + 1, now });
    const page = found.slice(0, limit);
    const next = found.length > limit ? toCursor(page.at(-1)!.id) : null;
    reply.headers(API_HEADERS);
    return listText(
      page.map((payment) => present(payment, now)),
      next,
    );
  }

  app.get('/payments', list);
  app.get('/payments/:payment_id', read);
}

/** The header that names ignored fields to a developer. The log gets those that were probably meant: other names are the caller's. */
function ignoredIn(body: unknown, request: FastifyRequest): Record<string, string> {
  if (request.caller.key.mode !== 'test') return {};
  const ignored = ignoredFields(body);
  if (ignored.length > 0)
    note(request, { ignored: [...new Set(ignored.map(({ meant }) => meant ?? 'other'))] });
  return ignoredHeader(ignored);
}

/** What an answer that may be given again needs. */
interface Answering {
  journal: Journal;
  idempotency: Idempotency;
}

/** Does `work` once for the request's idempotency key, or simply does it where there is none. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { journal, idempotency }: Answering,
  route: string,
  body: string | Uint8Array,
  work: Work<Answer>,
  row?: string,
) {
  const { merchant, key } = request.caller;
  const idempotencyKey = request.headers['idempotency-key'];
  let given: Answer;
  if (idempotencyKey === undefined) {
    given = await journal.commit(work, row);
  } else {
    const claim = {
      key: String(idempotencyKey),
      merchant_id: merchant.id,
      mode: key.mode,
      route,
      request: body,
      ...(row && { row }),
    };
    const once = await idempotency.once(claim, work).catch((error) => {
      const { code } = error as { code?: string };
      if (code === 'idempotency_key_reused') note(request, { idempotency: 'reused' });
      if (code === 'idempotency_in_progress') note(request, { idempotency: 'in_progress' });
      throw error;
    });
    note(request, { idempotency: once.replayed ? 'replayed' : 'kept' });
    if (once.replayed) reply.header('idempotency-replayed', 'true');
    given = once;
  }
  reply.code(given.status).headers(API_HEADERS);
  return given.body;
}

function tenantOf(request: FastifyRequest): Tenant {
  return { merchant_id: request.caller.merchant.id, mode: request.caller.key.mode };
}

/** Runs a check of the body, and reports a bad `Idempotency-Key` together with what it finds. */
function withIdempotencyKeyChecked<T>(request: FastifyRequest, check: () => T): T {
  const fault = idempotencyKeyFault(request);
  if (fault === undefined) return check();
  let details: ErrorDetails = {};
  try {
    check();
  } catch (error) {
    if (!(error instanceof OperationalError && error.details)) throw error;
    details = error.details;
  }
  throw validationFailed({ ...details, 'Idempotency-Key': fault });
}

/** The sentence that says what is wrong with a request's `Idempotency-Key`, or undefined. Node joins equal headers with a comma. */
function idempotencyKeyFault({ headers, raw }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  const names = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'idempotency-key');
  if (names.length > 1) return 'Must be sent once.';
  return key.length <= IDEMPOTENCY_KEY_MAXIMUM && /^[\x20-\x7e]+$/.test(String(key))
    ? undefined
    : `Must be 1 to ${IDEMPOTENCY_KEY_MAXIMUM} printable ASCII characters.`;
}

interface ListQuery {
  limit: number;
  before: string | undefined;
  merchant_reference: string | undefined;
  status: Status | undefined;
}

/** Checks the list's query. Throws `validation_failed` with every fault; parameters it does not know are ignored. */
function parseListQuery(query: unknown): ListQuery {
  const reader = new QueryReader(query);
  const limit = reader.integer('limit', 1, LIMIT.maximum) ?? LIMIT.default;
  const merchant_reference = reader.text('merchant_reference', (text) => textFault(text, 255));
  const status = reader.oneOf('status', STATUSES);
  const before = reader.cursor(idBefore);
  reader.end();
  return { limit, before, merchant_reference, status };
}

/** A cursor is the id of the last payment shown. */
function idBefore(cursor: string): string | undefined {
  const id = fromCursor(cursor);
  return id !== undefined && isPaymentId(id) ? id : undefined;
}
