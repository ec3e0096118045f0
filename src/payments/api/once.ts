// Answers a request of a merchant's key: once for an `Idempotency-Key`, and only about that merchant's payments of that mode.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Act } from '../../journal/audit-entry.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Work } from '../../journal/transaction.ts';
import { type ErrorDetails, OperationalError, validationFailed } from '../../lib/errors.ts';
import type { Clock } from '../../lib/time.ts';
import { commitChange } from '../../merchants/change.ts';
import type { Database } from '../../store/database.ts';
import { note } from '../../web/request-log.ts';
import { type Answer, Idempotency } from '../idempotency.ts';
import type { Payment } from '../payment.ts';
import { presentPayment } from '../present.ts';
import type { Tenant } from '../queries.ts';

const IDEMPOTENCY_KEY_MAXIMUM = 255;

interface Asked {
  /** Method and pattern: the same key of another route is another key. */
  route: string;
  /** What must be the same for the same key. */
  body: string | Uint8Array;
  /** The row the work changes, where others may change it too. */
  row?: string;
}

export type AnswerOnce = (
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
  work: Work<Answer>,
) => Promise<string>;

/** Returns the function that runs a request's work once for its `Idempotency-Key`, or simply runs it without one. */
export function answerOnce(database: Database, journal: Journal, clock: Clock): AnswerOnce {
  const idempotency = new Idempotency(database, journal, clock);
  return async (request, reply, { route, body, row }, work) => {
    const { merchant, key } = request.caller;
    const idempotencyKey = request.headers['idempotency-key'];
    let answer: Answer;
    if (idempotencyKey === undefined) {
      answer = await commitChange(journal, row ?? '', work);
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
      answer = once;
    }
    reply.code(answer.status);
    return answer.body;
  };
}

/** The answer that says what a payment is at `now`, in milliseconds since 1970. */
export function paymentAnswer(
  payment: Payment,
  status: number,
  checkoutBaseUrl: string,
  now: number,
): Answer {
  return { status, body: `{"data":${presentPayment(payment, checkoutBaseUrl, now)}}` };
}

/** The caller, for the entries of its changes. */
export const actOf = ({ caller, id }: FastifyRequest): Act => ({ actor: caller.actor, request_id: id });

export function tenantOf(request: FastifyRequest): Tenant {
  return { merchant_id: request.caller.merchant.id, mode: request.caller.key.mode };
}

/** Runs a check of the body, and reports a bad `Idempotency-Key` together with what it finds. */
export function withIdempotencyKeyChecked<T>(request: FastifyRequest, check: () => T): T {
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
