// Approving, rejecting and recording money under /admin: the same acts as the console's, on the same terms.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AdminParts } from '../../administrators/admin/parts.ts';
import type { Work } from '../../journal/transaction.ts';
import { type ErrorDetails, validationFailed } from '../../lib/errors.ts';
import { saysNothing } from '../../lib/faults.ts';
import { isPaymentId } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { DEFAULT_CURRENCY } from '../../payments/request.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { bodyOf, objectIn } from '../../web/json-body.ts';
import { approve, type Decision, reject } from '../decide.ts';
import { parseReceivedMoney, recordMoney } from '../record-money.ts';
import { type Parsed, parseApproval, parseRejection } from '../review.ts';
import type { WithId } from './payments.ts';
import { presentWhole } from './present.ts';

/** What an act comes to. */
type Acted = Omit<Decision, 'outcome'> & { outcome: Decision['outcome'] | 'recorded' };

/** Adds the routes to `app`, whose requests carry a principal that may decide, and JSON. */
export function addDecisionRoutes(app: FastifyInstance, parts: AdminParts): void {
  const { database, journal, clock, fourEyesAbove } = parts;

  /** Does `work`, and answers with the payment as it is then: 202 where another administrator has yet to approve. */
  async function act(id: string, reply: FastifyReply, work: Work<Acted>) {
    if (!isPaymentId(id)) throw paymentNotFound();
    const { payment, outcome } = await journal.commit(work, id);
    const answer = await presentWhole(payment, parts, clock.now());
    reply.code(outcome === 'awaiting_second' ? 202 : 200);
    return answer;
  }

  app.post('/payments/:payment_id/approve', (request: FastifyRequest<WithId>, reply) => {
    const { payment_id } = request.params;
    const { principal, id: requestId } = request;
    const approval = parseBody(bodyOf(request), parseApproval);
    return act(payment_id, reply, (transaction) =>
      approve(transaction, principal, payment_id, approval, fourEyesAbove, requestId),
    );
  });

  app.post('/payments/:payment_id/reject', (request: FastifyRequest<WithId>, reply) => {
    const { payment_id } = request.params;
    const { principal, id: requestId } = request;
    const rejection = parseBody(bodyOf(request), parseRejection);
    return act(payment_id, reply, (transaction) =>
      reject(transaction, principal, payment_id, rejection, requestId),
    );
  });

  app.post('/payments/:payment_id/record', async (request: FastifyRequest<WithId>, reply) => {
    const { payment_id } = request.params;
    const { principal, id: requestId } = request;
    const found = isPaymentId(payment_id) ? await findPayment(database, payment_id) : undefined;
    // Report a fault of the body before a missing payment, as every endpoint does.
    const currency = found?.currency ?? DEFAULT_CURRENCY;
    const money = parseBody(bodyOf(request), (values) => parseReceivedMoney(values, currency, clock.now()));
    return act(payment_id, reply, async (transaction) => ({
      payment: await recordMoney(transaction, principal, payment_id, money, requestId),
      outcome: 'recorded',
    }));
  });
}

/** Reads a body. Throws `invalid_json`, and `validation_failed` with every fault. */
function parseBody<T>(bytes: Uint8Array, parse: (values: Record<string, unknown>) => Parsed<T>): T {
  const values = objectIn(bytes);
  const parsed = parse(values);
  const faults: ErrorDetails = 'faults' in parsed ? parsed.faults : {};
  if (typeof values.version === 'string' && !saysNothing(values.version))
    faults.version = 'Must be a whole number.'; // forms alone send it as text
  if ('faults' in parsed || Object.keys(faults).length > 0) throw validationFailed(faults);
  return parsed.value;
}
