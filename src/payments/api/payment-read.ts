// GET /v1/payments/{id}: at once, or with `Prefer: wait` (RFC 7240) at the payment's next change.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SECOND_MS } from '../../lib/time.ts';
import { preferredWait } from '../../web/headers.ts';
import { asOf, isPaymentId, type Payment } from '../payment.ts';
import { presentPayment } from '../present.ts';
import { findPaymentOf } from '../queries.ts';
import { paymentNotFound } from '../transition.ts';
import type { Waits } from '../waits.ts';
import { tenantOf } from './once.ts';
import type { PaymentRoutes } from './payments.ts';

/** Below the 60 seconds after which most proxies give up. */
export const WAIT_MAXIMUM_S = 50;

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

/** Adds the route to `app`, whose requests carry a caller by now. */
export function addPaymentRead(app: FastifyInstance, settings: PaymentRead): void {
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

  app.get('/payments/:payment_id', async (request: FastifyRequest<WithId>, reply) => {
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
