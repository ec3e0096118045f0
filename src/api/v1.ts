// Everything under /v1: the key first, then whether there is such an endpoint, then how often the merchant has called.
import type { FastifyInstance } from 'fastify';
import { notFound } from '../http/errors.ts';
import { API_HEADERS } from '../http/headers.ts';
import { CallerBuckets, type RateLimits, takeFrom } from '../http/rate-limit.ts';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import type { Waits } from '../payments/waits.ts';
import { type ApiKeyRoutes, addApiKeyRoutes } from './api-keys.ts';
import { type Authentication, authenticator } from './authenticate.ts';
import { addDeliveryRoutes } from './deliveries.ts';
import { addEventStream, type EventStreamRoutes } from './event-stream.ts';
import { addEventRoutes } from './events.ts';
import { answerOnce } from './once.ts';
import { addPaymentRead } from './payment-read.ts';
import { addPaymentRoutes, type PaymentRoutes } from './payments.ts';
import { addTrialRoutes } from './trials.ts';
import { addWebhookRoutes, type WebhookRoutes } from './webhooks.ts';

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

/** Counts every request that is for an endpoint and has a caller by now. Throws `rate_limited` in requests. */
function addRateLimits(app: FastifyInstance, limits: RateLimits, clock: Clock): void {
  const buckets = new CallerBuckets(limits);
  app.addHook('onRequest', (request, reply, done) => {
    const now = clock.now();
    done(takeFrom(buckets.find(request.caller, request.method, now), reply, now));
  });
}
