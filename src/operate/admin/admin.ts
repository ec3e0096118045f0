// Everything under /admin: the token first, then whether there is such an endpoint, then whether the role allows it.
import type { FastifyInstance } from 'fastify';
import { authenticator, permit } from '../../administrators/admin/authenticate.ts';
import type { AdminParts } from '../../administrators/admin/parts.ts';
import type { Offer } from '../../payments/methods/offer.ts';
import { addDecisionRoutes } from '../../review/admin/decisions.ts';
import { addPaymentRoutes } from '../../review/admin/payments.ts';
import { addStatementImport, addStatementReads } from '../../statements/admin/statements.ts';
import { notFound } from '../../web/errors.ts';
import { API_HEADERS } from '../../web/headers.ts';
import { takeJson } from '../../web/json-body.ts';
import { addWebhookActs } from '../../webhooks/admin/webhook-acts.ts';
import { addWebhookReads } from '../../webhooks/admin/webhooks.ts';
import { addAuditRoutes } from './audit.ts';

/** Registers the administrators' interface on `app` under its prefix. */
export async function adminApi(app: FastifyInstance, parts: AdminParts & { offer: Offer }): Promise<void> {
  const authenticate = authenticator(parts.database, parts.refuse, parts.clock);
  app.decorateRequest('principal');
  app.addHook('onRequest', async (request) => {
    await authenticate(request);
    if (request.is404) throw notFound();
  });
  app.addHook('preHandler', async (_request, reply) => void reply.headers(API_HEADERS));
  app.setNotFoundHandler(() => {
    throw notFound();
  });
  app.register(async (scope) => {
    scope.addHook('onRequest', permit('read'));
    addPaymentRoutes(scope, parts);
    addAuditRoutes(scope, parts);
    addWebhookReads(scope, parts);
    addStatementReads(scope, parts);
  });
  app.register(async (scope) => {
    scope.addHook('onRequest', permit('decide'));
    takeJson(scope);
    addDecisionRoutes(scope, parts);
  });
  app.register(async (scope) => {
    scope.addHook('onRequest', permit('decide'));
    addStatementImport(scope, parts);
  });
  app.register(async (scope) => {
    scope.addHook('onRequest', permit('administer'));
    addWebhookActs(scope, parts);
  });
}
