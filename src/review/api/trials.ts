// POST /v1/test/payments/{id}/{trial}: a test key brings its payments to every state without a person.
import type { FastifyInstance } from 'fastify';
import type { Transaction } from '../../journal/transaction.ts';
import { validationFailed } from '../../lib/errors.ts';
import {
  type AnswerOnce,
  paymentAnswer,
  tenantOf,
  withIdempotencyKeyChecked,
} from '../../payments/api/once.ts';
import type { PaymentRoutes } from '../../payments/api/payments.ts';
import { isPaymentId } from '../../payments/payment.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { bodyOf, ignoreBody, objectIn, takeJson } from '../../web/json-body.ts';
import { parseTriedRejection, type Rejection } from '../review.ts';
import { TRIALS, type Trial, type TryOut, tryOut } from '../try-out.ts';

type WithId = { Params: { payment_id: string } };

/** Adds the routes to `app`, whose requests carry a caller by now. */
export function addTrialRoutes(
  app: FastifyInstance,
  { checkoutBaseUrl }: PaymentRoutes,
  once: AnswerOnce,
): void {
  const add = (scope: FastifyInstance, trial: Trial) =>
    scope.post<WithId>(`/test/payments/:payment_id/${trial}`, async (request, reply) => {
      const { payment_id: id } = request.params;
      const { merchant_id, mode } = tenantOf(request);
      if (mode !== 'test') throw paymentNotFound();
      const bytes = bodyOf(request);
      const rejection = withIdempotencyKeyChecked(request, () => rejectionIn(bytes));
      if (!isPaymentId(id)) throw paymentNotFound();
      const facts = { key: request.caller.key.id };
      const asked: TryOut = { id, merchant_id, requestId: request.id, facts, rejection };
      const work = async (transaction: Transaction) =>
        paymentAnswer(await tryOut(transaction, trial, asked), 200, checkoutBaseUrl, transaction.now);
      const route = `POST /v1/test/payments/:payment_id/${trial}`;
      return once(request, reply, { route, body: `${id} ${bytes}`, row: id }, work);
    });
  app.register(async (scope) => {
    takeJson(scope, { mayBeMissing: true });
    add(scope, 'reject');
  });
  app.register(async (scope) => {
    ignoreBody(scope);
    for (const trial of TRIALS) if (trial !== 'reject') add(scope, trial);
  });
}

/** How a payment is rejected; undefined where the body is empty. Throws `invalid_json`, `validation_failed`. */
function rejectionIn(bytes: Uint8Array): Pick<Rejection, 'reason' | 'message'> | undefined {
  if (bytes.length === 0) return undefined;
  const parsed = parseTriedRejection(objectIn(bytes));
  if ('faults' in parsed) throw validationFailed(parsed.faults);
  return parsed.value;
}
