// The payments' endpoints under /v1: create, read, list and cancel.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Database } from '../database/database.ts';
import type { Journal } from '../journal/journal.ts';
import type { Transaction, Work } from '../journal/transaction.ts';
import { type ErrorDetails, OperationalError, validationFailed } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { textFault } from '../lib/text.ts';
import type { Clock } from '../lib/time.ts';
import { createPayment } from '../payments/create.ts';
import { type Answer, Idempotency } from '../payments/idempotency.ts';
import { isPaymentId, type Payment, STATUSES, type Status } from '../payments/payment.ts';
import { paymentSchema, presentPayment } from '../payments/present.ts';
import { findPaymentOf, listPayments, type Tenant } from '../payments/queries.ts';
import type { Act } from '../payments/record.ts';
import { parsePaymentRequest } from '../payments/request.ts';
import { paymentNotFound, transition } from '../payments/transition.ts';
import { API_HEADERS } from './headers.ts';

const LIMIT = { default: 20, maximum: 100 };
const IDEMPOTENCY_KEY_MAXIMUM = 255;

export const paymentAnswerSchema = z.strictObject({ data: paymentSchema });
export const paymentListSchema = z.strictObject({
  data: z.array(paymentSchema),
  has_more: z.boolean().describe('Whether there are more behind the last.'),
  next_cursor: z.string().nullable().describe('Hand in as `cursor` for what comes next.'),
});

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
  const { database, journal, clock, baseUrl, checkoutBaseUrl, lifetimeS, httpsOnly } = settings;
  const idempotency = new Idempotency(database, journal, clock);

  const present = (payment: Payment, now: number) => presentPayment(payment, checkoutBaseUrl, now);

  /** Does `work` once for the request's idempotency key, or simply does it where there is none. */
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
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
      const once = await idempotency.once(claim, work);
      if (once.replayed) reply.header('idempotency-replayed', 'true');
      given = once;
    }
    reply.code(given.status).headers(API_HEADERS);
    return given.body;
  }

  async function create(request: FastifyRequest, reply: FastifyReply) {
    const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
    const body = parseJson(bytes);
    const strict = prefersStrictHandling(request);
    const wanted = withIdempotencyKeyChecked(request, () => parsePaymentRequest(body, { strict, httpsOnly }));
    if (strict) reply.header('preference-applied', 'handling=strict');
    const act: Act = { actor: request.caller.actor, request_id: request.id };
    const text = await answer(request, reply, 'POST /v1/payments', bytes, (transaction) => {
      const payment = createPayment(transaction, request.caller, act, wanted, lifetimeS);
      return { status: 201, body: `{"data":${present(payment, transaction.now)}}` };
    });
    reply.header('location', `${baseUrl}/v1/payments/${/"id":"(\w+)"/.exec(text)![1]}`);
    return text;
  }

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
    const { limit, ...filter } = parseListQuery(request.query as Record<string, unknown>);
    const now = clock.now();
    const found = await listPayments(database, { ...tenantOf(request), ...filter, limit: limit + 1, now });
    const page = found.slice(0, limit);
    const has_more = found.length > limit;
    reply.headers(API_HEADERS);
    const next_cursor = has_more ? cursorBehind(page.at(-1)!.id) : null;
    const data = page.map((payment) => present(payment, now)).join(',');
    return `{"data":[${data}],"has_more":${has_more},"next_cursor":${JSON.stringify(next_cursor)}}`;
  }

  async function cancel(request: FastifyRequest<WithId>, reply: FastifyReply) {
    const { payment_id } = request.params;
    const act: Act = { actor: request.caller.actor, request_id: request.id };
    withIdempotencyKeyChecked(request, () => {});
    if (!isPaymentId(payment_id)) throw paymentNotFound();
    const work = async (transaction: Transaction) => {
      const facts = { key: request.caller.key.id };
      const tenant = tenantOf(request);
      const payment = await transition(
        transaction,
        tenant,
        payment_id,
        'cancel',
        act,
        { status_reason: 'cancelled_by_merchant' },
        facts,
      );
      return { status: 200, body: `{"data":${present(payment, transaction.now)}}` };
    };
    return answer(request, reply, 'POST /v1/payments/:payment_id/cancel', payment_id, work, payment_id);
  }

  app.get('/payments', list);
  app.get('/payments/:payment_id', read);
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request) => requireJson(request));
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post('/payments', create);
  });
  app.register(async (scope) => {
    // A body on cancel is ignored, whatever it is and calls itself: it is not even read.
    scope.addHook('onRequest', async (request) => void delete request.headers['content-type']);
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.post('/payments/:payment_id/cancel', cancel);
  });
}

function tenantOf(request: FastifyRequest): Tenant {
  return { merchant_id: request.caller.merchant.id, mode: request.caller.key.mode };
}

/** Raises `unsupported_media_type` unless the body is announced as JSON in UTF-8 and not compressed. */
function requireJson(request: FastifyRequest): void {
  const type = request.headers['content-type'] ?? '';
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (
    !/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type) ||
    encoding.toLowerCase() !== 'identity'
  ) {
    throw new OperationalError('unsupported_media_type', 'The request body must be application/json.');
  }
}

/** `Prefer: handling=strict` (RFC 7240, section 4.4). */
function prefersStrictHandling(request: FastifyRequest): boolean {
  const { prefer } = request.headers;
  return (
    prefer !== undefined &&
    [prefer].flat().some((value) => /(?:^|[,;])\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i.test(value))
  );
}

/** Runs a check of the body, and reports a bad `Idempotency-Key` together with what it finds. */
function withIdempotencyKeyChecked<T>(request: FastifyRequest, check: () => T): T {
  const key = request.headers['idempotency-key'];
  if (
    key === undefined ||
    (typeof key === 'string' && key.length <= IDEMPOTENCY_KEY_MAXIMUM && /^[\x20-\x7e]+$/.test(key))
  )
    return check();
  let details: ErrorDetails = {};
  try {
    check();
  } catch (error) {
    if (!(error instanceof OperationalError && error.details)) throw error;
    details = error.details;
  }
  throw validationFailed({
    ...details,
    'Idempotency-Key': `Must be 1 to ${IDEMPOTENCY_KEY_MAXIMUM} printable ASCII characters.`,
  });
}

interface ListQuery {
  limit: number;
  before: string | undefined;
  merchant_reference: string | undefined;
  status: Status | undefined;
}

/** Checks the list's query. Raises `validation_failed` with every fault; parameters it does not know are ignored. */
function parseListQuery(query: Record<string, unknown>): ListQuery {
  const faults: ErrorDetails = {};
  const single = (name: string): string | undefined => {
    const value = query[name];
    if (Array.isArray(value)) faults[name] = 'Must be given once.';
    return typeof value === 'string' ? value : undefined;
  };

  const limit = single('limit');
  if (
    limit !== undefined &&
    !(/^\d{1,9}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= LIMIT.maximum)
  ) {
    faults.limit = `Must be a whole number from 1 to ${LIMIT.maximum}.`;
  }
  const merchant_reference = single('merchant_reference');
  const fault = merchant_reference === undefined ? undefined : textFault(merchant_reference, 255);
  if (fault) faults.merchant_reference = fault;
  const status = single('status');
  if (status !== undefined && !STATUSES.includes(status as Status))
    faults.status = `Must be one of ${STATUSES.join(', ')}.`;
  const cursor = single('cursor');
  const before = cursor === undefined ? undefined : idBefore(cursor);
  if (cursor !== undefined && before === undefined)
    faults.cursor = 'Must be a next_cursor of an earlier answer.';

  if (Object.keys(faults).length > 0) throw validationFailed(faults);
  return {
    limit: limit === undefined ? LIMIT.default : Number(limit),
    before,
    merchant_reference,
    status: status as Status | undefined,
  };
}

/** A cursor is the id of the last payment shown, in a form that invites nobody to build one. */
function cursorBehind(id: string): string {
  return Buffer.from(id).toString('base64url');
}

function idBefore(cursor: string): string | undefined {
  const id = Buffer.from(cursor, 'base64url').toString('latin1');
  return isPaymentId(id) && cursorBehind(id) === cursor ? id : undefined;
}
