// Everything under /v1: the key first, then whether there is such an endpoint.
import type { FastifyInstance } from 'fastify';
import { notFound } from '../http/errors.ts';
import { SECOND_MS } from '../lib/time.ts';
import type { Directory } from '../merchants/merchant.ts';
import { authenticator } from './authenticate.ts';
import { addPaymentRoutes, type PaymentRoutes } from './payments.ts';

export interface V1 extends PaymentRoutes {
  directory: Directory;
}

const SLOW_MS = SECOND_MS / 2;

/** Registers the versioned API on `app` under its prefix. */
export async function v1(app: FastifyInstance, settings: V1): Promise<void> {
  const authenticate = authenticator(settings.directory, settings.clock);
  app.decorateRequest('caller');
  app.addHook('onRequest', (request, _reply, done) => {
    authenticate(request);
    done(request.is404 ? notFound() : undefined);
  });
  // Who sends a body slowly may have lost the key, or the merchant been suspended, since the headers came.
  app.addHook('preHandler', (request, reply, done) => {
    if (reply.elapsedTime > SLOW_MS) authenticate(request);
    done();
  });
  app.setNotFoundHandler(() => {
    throw notFound();
  });
  addPaymentRoutes(app, settings);
}
