// Everything under /v1: the key first, then whether there is such an endpoint, then how often the merchant has called.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import { refuseReplaced } from '../merchants/acting-key.ts';
import { type ApiKeyRoutes, addApiKeyRoutes } from '../merchants/api/api-keys.ts';
import { type Authentication, authenticator } from '../merchants/api/authenticate.ts';
import { addEventStream, type EventStreamRoutes } from '../payments/api/event-stream.ts';
import { addEventRoutes } from '../payments/api/events.ts';
import { answerOnce } from '../payments/api/once.ts';
import { addPaymentRead } from '../payments/api/payment-read.ts';
import { addPaymentRoutes, type PaymentRoutes } from '../payments/api/payments.ts';
import type { Waits } from '../payments/waits.ts';
import { addTrialRoutes } from '../review/api/trials.ts';
import { notFound } from '../web/errors.ts';
import { API_HEADERS } from '../web/headers.ts';
import { CallerBuckets, type RateLimits, takeFrom } from '../web/rate-limit.ts';
import { addDeliveryRoutes } from '../webhooks/api/deliveries.ts';
import { addWebhookRoutes, type WebhookRoutes } from '../webhooks/api/webhooks.ts';

interface V1 extends PaymentRoutes, ApiKeyRoutes, WebhookRoutes, Authentication, EventStreamRoutes {
  waits: Waits;
  /** How often each merchant may call in each mode; null where that is not limited. */
  rateLimits: RateLimits | null;
}

const SLOW_MS = SECOND_MS / 2;

/** Registers the versioned API on `app` under its prefix. */
export async function v1(app: FastifyInstance, settings: V1): Promise<void> {
  const authenticate = authenticator(settings);
  app.decorateRequest('caller');
  app.addHook('onRequest', (request, _reply, done) => {
    const goOn = () => done(request.is404 ? notFound() : undefined);
    const lookingUp = authenticate(request);
    if (lookingUp) lookingUp.then(goOn, done);
    else goOn();
  });
  if (settings.rateLimits) addRateLimits(app, settings.rateLimits, settings.clock);
  app.addHook('onRequest', (request, _reply, done) => {
    if (!mayReplacedKey(request)) refuseReplaced(request.caller.key);
    done();
  });
  // Who sends a body slowly may have lost the key, or the merchant been suspended, since the headers came.
  app.addHook('preHandler', (request, reply, done) => {
    reply.headers(API_HEADERS);
    const lookingUp = reply.elapsedTime > SLOW_MS ? authenticate(request) : undefined;
    if (lookingUp) lookingUp.then(() => done(), done);
    else done();
  });
  app.setNotFoundHandler(() => {
    throw notFound();
  });
  const once = answerOnce(settings.database, settings.journal, settings.clock);
  addPaymentRead(app, { ...settings, authenticate });
  addPaymentRoutes(app, settings, once);
  addTrialRoutes(app, settings, once);
  addEventRoutes(app, settings);
  addEventStream(app, settings);
  addApiKeyRoutes(app, settings);
  addWebhookRoutes(app, settings, once);
  addDeliveryRoutes(app, settings, once);
}

/** Whether a request is one that a replaced key may send. What changes keys judges it in its transaction. */
function mayReplacedKey({ method, routeOptions }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead || /\/v1\/(payments|api_keys.*)$/.test(routeOptions.url ?? '');
}

/** Counts every request that is for an endpoint and has a caller by now. Throws `rate_limited` in requests. */
function addRateLimits(app: FastifyInstance, limits: RateLimits, clock: Clock): void {
  const buckets = new CallerBuckets(limits);
  app.addHook('onRequest', (request, reply, done) => {
    const now = clock.now();
    done(takeFrom(buckets.find(request.caller, request.method, now), reply, now));
  });
}
