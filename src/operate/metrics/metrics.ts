// GET /metrics, on an address of its own and with nothing beside it: what Prometheus reads.
import type { FastifyInstance } from 'fastify';
import type { Measurements } from './measurements.ts';

/** Registers the one route that there is. */
export function addMetricsRoute(app: FastifyInstance, measurements: Measurements): void {
  app.get('/metrics', async (_request, reply) => {
    const { type, text } = await measurements.text();
    return reply
      .headers({ 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
      .send(text);
  });
}
