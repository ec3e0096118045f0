// GET /v1/payments/{id}: at once, or with `Prefer: wait` (RFC 7240) at the payment's next change.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SECOND_MS } from '../../lib/time.ts';
import { type ApiEndpoint, endpoint } from '../../web/endpoint.ts';
import { preferredWait } from '../../web/headers.ts';
import { asOf, isPaymentId, type Payment } from '../payment.ts';
import { presentPayment } from '../present.ts';
import { findPaymentOf } from '../queries.ts';
import { paymentNotFound } from '../transition.ts';
import type { Waits } from '../waits.ts';
import { tenantOf } from './once.ts';
import { type PaymentRoutes, paymentAnswerSchema } from './payments.ts';

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

  /** Returns the payment as it is after its next change, or after the time. */
  async function wait(request: FastifyRequest<WithId>, reply: FastifyReply, seconds: number, known: Known) {
    const { payment_id: paymentId } = request.params;
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
      let shown = await show(request, request.params.payment_id);
      const isMatch = (tag: string) => condition !== undefined && matches(condition, tag);
      const first = shown.tag;
      const known = condition === undefined ? (tag: string) => tag === first : isMatch;
      const seconds = Math.min(preferredWait(request.headers) ?? 0, WAIT_MAXIMUM_S);
      if (seconds > 0 && waits.hasRoom(tenantOf(request))) shown = await wait(request, reply, seconds, known);
      reply.header('etag', shown.tag);
      if (!isMatch(shown.tag)) return shown.text;
      reply.code(304);
      return '';
    },
  });
}

type WithId = { Params: { payment_id: string } };
/** Whether the client knows what has this entity tag. */
type Known = (tag: string) => boolean;

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
