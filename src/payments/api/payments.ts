// The payments' endpoints under /v1: create, list, cancel, and read at once or with `Prefer: wait` (RFC 7240) at the next change.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Journal } from '../../journal/journal.ts';
import type { Transaction } from '../../journal/transaction.ts';
import { validationFailed } from '../../lib/errors.ts';
import { fieldPath } from '../../lib/faults.ts';
import { editDistance, textFault } from '../../lib/text.ts';
import { type Clock, SECOND_MS } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import {
  type ApiEndpoint,
  endpoint,
  idCursorParameter,
  limitParameter,
  textParameter,
  wordParameter,
} from '../../web/endpoint.ts';
import { preferredWait } from '../../web/headers.ts';
import { listSchema, listText, pageOf } from '../../web/list.ts';
import { note } from '../../web/request-log.ts';
import { createPayment } from '../create.ts';
import { changesBehind, changesFrom, listChanged } from '../events/list.ts';
import type { PaymentTerms } from '../pay-by.ts';
import { asOf, isPaymentId, type Payment, STATUSES, type Status } from '../payment.ts';
import { paymentSchema, presentPayment } from '../present.ts';
import { findPaymentOf, listPayments, type Tenant } from '../queries.ts';
import { customerSchema, parsePaymentRequest, paymentRequestSchema } from '../request.ts';
import { paymentNotFound, transition } from '../transition.ts';
import type { Waits } from '../waits.ts';
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

/** The header that names them, to a test key alone: `Counterfoil-Ignored: "curency" (currency?), "colour"`. */
function ignoredIn(ignored: readonly IgnoredField[], request: FastifyRequest): Record<string, string> {
  if (ignored.length === 0 || request.caller.key.mode !== 'test') return {};
  note(request, { ignored: [...new Set(ignored.map(({ meant }) => meant ?? 'other'))] });
  const named = ignored.map(({ name, meant }) => `"${name}"${meant ? ` (${meant}?)` : ''}`);
  return { 'counterfoil-ignored': named.join(', ') };
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
function ignoredFields(fields: Record<string, unknown>): IgnoredField[] {
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

/** Below the 60 seconds after which most proxies give up. */
const WAIT_MAXIMUM_S = 50;

interface PaymentRead extends Pick<PaymentRoutes, 'database' | 'clock' | 'checkoutBaseUrl'> {
  waits: Waits;
  /** Looks at the key again. Throws as `authenticator` says. */
  authenticate(request: FastifyRequest): Promise<void> | undefined;
}

interface Shown {
  text: string;
  /** The entity tag: another one whenever the text is another. */
  tag: string;
}

const WAITING = `With \`Prefer: wait=30\` the answer comes at the next change of the payment, or after the seconds named, at most ${WAIT_MAXIMUM_S}. With \`If-None-Match\` the change counts from the answer that had this entity tag, so that none is missed between two reads.`;
const CONDITIONS = [
  {
    name: 'Prefer',
    in: 'header',
    description: '`wait=30` waits for a change, so many seconds at most (RFC 7240).',
    schema: { type: 'string' },
  },
  {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier answer.',
    schema: { type: 'string' },
  },
];
const READ_HEADERS = {
  ETag: { description: 'Another one whenever the answer is another.', schema: { type: 'string' } },
  'Preference-Applied': {
    required: false,
    description: 'How long the answer would have waited: missing if it did not.',
    schema: { type: 'string', examples: ['wait=30'] },
  },
};
/** The endpoint that reads one payment. */
export function paymentReadEndpoint(settings: PaymentRead): ApiEndpoint {
  const { database, clock, checkoutBaseUrl, waits, authenticate } = settings;

  async function show(request: FastifyRequest, id: string): Promise<Shown> {
    const found = isPaymentId(id) ? await findPaymentOf(database, tenantOf(request), id) : undefined;
    if (!found) throw paymentNotFound();
    const now = clock.now();
    const payment = asOf(found, now);
    const text = `{"data":${presentPayment(payment, checkoutBaseUrl, now)}}`;
    return { text, tag: tagOf(payment, text) };
  }

  /** Returns the payment as it is after its next change, or after the time. `known`: whether the client knows what has an entity tag. */
  async function wait(
    request: FastifyRequest,
    reply: FastifyReply,
    paymentId: string,
    seconds: number,
    known: (tag: string) => boolean,
  ) {
    reply.patienceMs = seconds * SECOND_MS;
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    request.raw.socket.once('end', () => gone.abort());
    const look = async () => {
      const shown = await show(request, paymentId);
      return known(shown.tag) ? undefined : shown;
    };
    const asked = { tenant: tenantOf(request), paymentId, withinMs: reply.patienceMs, signal: gone.signal };
    const changed = await waits.until({ ...asked, look });
    await authenticate(request); // the key may have been revoked meanwhile
    reply.header('preference-applied', `wait=${seconds}`);
    return changed ?? show(request, paymentId);
  }

  return endpoint('GET /v1/payments/{payment_id}', {
    id: 'readPayment',
    summary: 'Read a payment',
    description: WAITING,
    headers: CONDITIONS,
    answers: {
      200: {
        description: 'The payment.',
        body: ['PaymentAnswer', paymentAnswerSchema],
        headers: READ_HEADERS,
      },
      304: { description: 'Still as the client knows it.', headers: READ_HEADERS },
    },
    errors: ['not_found'],
    async handle({ request, reply }) {
      const { 'if-none-match': condition } = request.headers;
      const { payment_id } = request.params;
      let shown = await show(request, payment_id);
      const isMatch = (tag: string) => condition !== undefined && matches(condition, tag);
      const first = shown.tag;
      const known = condition === undefined ? (tag: string) => tag === first : isMatch;
      const seconds = Math.min(preferredWait(request.headers) ?? 0, WAIT_MAXIMUM_S);
      if (seconds > 0 && waits.hasRoom(tenantOf(request)))
        shown = await wait(request, reply, payment_id, seconds, known);
      reply.header('etag', shown.tag);
      if (!isMatch(shown.tag)) return shown.text;
      reply.code(304);
      return '';
    },
  });
}

/**
 * The entity tag of a payment. Every move writes `updated_at` and another status or a later time; what is erased makes the text shorter.
 * A digest of the text would cost a tenth of a read.
 */
function tagOf({ updated_at, status }: Payment, text: string): string {
  return `"${updated_at.toString(36)}-${status}-${text.length.toString(36)}"`;
}

/** Whether an `If-None-Match` names an entity tag, by weak comparison (RFC 9110, section 13.1.2). */
function matches(condition: string, tag: string): boolean {
  return condition.split(',').some((one) => ['*', tag, `W/${tag}`].includes(one.trim()));
}
