// Everything under /admin: the token first, then whether there is such an endpoint, then whether the role allows it.
import type { FastifyInstance } from 'fastify';
import {
  type AdminParts,
  authenticator,
  requirePermission,
} from '../../administrators/admin/authenticate.ts';
import type { Offer } from '../../payments/methods/offer.ts';
import { decisionEndpoints } from '../../review/admin/decisions.ts';
import { paymentReads } from '../../review/admin/payments.ts';
import { statementImports } from '../../statements/admin/imports.ts';
import { statementReads } from '../../statements/admin/statements.ts';
import type { MatchSettings } from '../../statements/matching/propose.ts';
import { type ApiEndpoint, addEndpoints, described, type Surface } from '../../web/endpoint.ts';
import { notFound } from '../../web/errors.ts';
import { API_HEADERS } from '../../web/headers.ts';
import { ALWAYS, type Description } from '../../web/openapi.ts';
import { webhookActs, webhookReads } from '../../webhooks/admin/webhooks.ts';
import { auditEndpoints } from './audit.ts';

interface Admin extends AdminParts, MatchSettings {
  offer: Offer;
}

/** Registers the administrators' interface on `app` under its prefix. */
export async function adminApi(app: FastifyInstance, parts: Admin): Promise<void> {
  const authenticate = authenticator(parts.database, parts.refuse, parts.clock);
  app.decorateRequest('principal');
  app.addHook('onRequest', async (request) => {
    await authenticate(request);
    if (request.is404) throw notFound();
    requirePermission(request);
  });
  app.addHook('preHandler', async (_request, reply) => void reply.headers(API_HEADERS));
  app.setNotFoundHandler(() => {
    throw notFound();
  });
  addEndpoints(app, ADMIN_SURFACE, endpointsOf(parts));
}

/** What the endpoints under /admin have in common. */
const ADMIN_SURFACE: Surface = {
  prefix: '/admin',
  security: [{ administratorToken: [] }],
  errors: [...ALWAYS, 'unauthorized', 'rate_limited'],
  headers: {},
};

const endpointsOf = (parts: Admin): ApiEndpoint[] => [
  ...paymentReads(parts),
  ...decisionEndpoints(parts),
  ...auditEndpoints(parts),
  ...webhookReads(parts),
  ...webhookActs(parts),
  ...statementReads(parts),
  ...statementImports(parts),
];

/** What the OpenAPI document says of /admin. Nothing is called of what the endpoints close over. */
export const adminDescription = (parts: Admin): Description => ({
  ...described(ADMIN_SURFACE, endpointsOf(parts)),
  securitySchemes: {
    administratorToken: {
      type: 'http',
      scheme: 'bearer',
      description: "An administrator's token, `cfa_…`; for programs that administrators run.",
    },
  },
});
