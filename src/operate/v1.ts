// Everything under /v1: the key first, then whether there is such an endpoint, then how often the merchant has called.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import { type SendLinkRoutes, sendLinkEndpoint } from '../mail/api/send-link.ts';
import { type ApiKeyRoutes, apiKeyEndpoints } from '../merchants/api/api-keys.ts';
import { type Authentication, authenticator } from '../merchants/api/authenticate.ts';
import { refuseReplaced } from '../merchants/api-keys.ts';
import { type EventStreamRoutes, eventEndpoints, eventStreamEndpoint } from '../payments/api/events.ts';
import { answerOnce, withIdempotencyKeyChecked } from '../payments/api/once.ts';
import { type PaymentRoutes, paymentEndpoints, paymentReadEndpoint } from '../payments/api/payments.ts';
import type { Waits } from '../payments/waits.ts';
import { trialEndpoints } from '../review/api/trials.ts';
import { type ApiEndpoint, addEndpoints, described, type Surface } from '../web/endpoint.ts';
import { notFound } from '../web/errors.ts';
import { API_HEADERS } from '../web/headers.ts';
import { ALWAYS, type Description, RATE_LIMIT_HEADERS } from '../web/openapi.ts';
import { CallerBuckets, type RateLimits, takeFrom } from '../web/rate-limit.ts';
import { deliveryEndpoints } from '../webhooks/api/deliveries.ts';
import { type WebhookRoutes, webhookEndpoints } from '../webhooks/api/webhooks.ts';

interface V1
  extends PaymentRoutes,
    SendLinkRoutes,
    ApiKeyRoutes,
    WebhookRoutes,
    Authentication,
    EventStreamRoutes {
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
  addEndpoints(app, V1_SURFACE, endpointsOf(settings, authenticate));
}

/** Whether a request is one that a replaced key may send. What changes keys judges it in its transaction. */
function mayReplacedKey({ method, routeOptions }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead || /\/v1\/(payments|api_keys.*)$/.test(routeOptions.url ?? '');
}

/** What the endpoints under /v1 have in common. */
const V1_SURFACE: Surface = {
  prefix: '/v1',
  security: [{ apiKey: [] }],
  errors: [...ALWAYS, 'unauthorized', 'forbidden', 'rate_limited'],
  headers: RATE_LIMIT_HEADERS,
  checkedOnce: withIdempotencyKeyChecked,
};

function endpointsOf(settings: V1, authenticate: ReturnType<typeof authenticator>): ApiEndpoint[] {
  const once = answerOnce(settings.database, settings.journal, settings.clock);
  return [
    ...paymentEndpoints(settings, once),
    paymentReadEndpoint({ ...settings, authenticate }),
    sendLinkEndpoint(settings, once),
    ...trialEndpoints(settings, once),
    ...eventEndpoints(settings),
    eventStreamEndpoint(settings),
    ...apiKeyEndpoints(settings),
    ...webhookEndpoints(settings, once),
    ...deliveryEndpoints(settings, once),
  ];
}

/** What the OpenAPI document says of /v1. Nothing is called of what the endpoints close over. */
export const v1Description = (settings: V1): Description => ({
  ...described(V1_SURFACE, endpointsOf(settings, authenticator(settings))),
  securitySchemes: {
    apiKey: { type: 'http', scheme: 'bearer', description: "A merchant's API key; for servers only." },
  },
});

/** Counts every request that is for an endpoint and has a caller by now. Throws `rate_limited` in requests. */
function addRateLimits(app: FastifyInstance, limits: RateLimits, clock: Clock): void {
  const buckets = new CallerBuckets(limits);
  app.addHook('onRequest', (request, reply, done) => {
    const now = clock.now();
    done(takeFrom(buckets.find(request.caller, request.method, now), reply, now));
  });
}
