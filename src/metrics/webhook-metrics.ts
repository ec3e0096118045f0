// How webhook endpoints stand, for Prometheus.
import { Gauge, type Registry } from 'prom-client';
import type { Logger } from '../lib/log.ts';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import { ENDPOINT_STATES } from '../webhooks/endpoint.ts';
import type { EndpointStates } from '../webhooks/queries.ts';
import type { ReadMetrics } from './read-metrics.ts';

/** What the metrics of webhooks are read from. */
interface WebhooksMeasured {
  clock: Clock;
  log: Logger;
  endpointStates(): Promise<EndpointStates>;
}

/** Adds the metrics of webhook endpoints. They are left out while the store cannot be read. */
export function watchWebhooks(
  registry: Registry,
  reads: ReadMetrics,
  { clock, log, endpointStates }: WebhooksMeasured,
): void {
  const read = () =>
    endpointStates().catch((error) => {
      log.warn({ err: error }, 'webhook endpoints could not be measured');
      return undefined;
    });
  new Gauge({
    name: 'counterfoil_webhook_endpoints',
    help: 'Webhook endpoints of all merchants, by their state: enabled, failing or disabled.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset();
      const states = await read();
      if (!states) return;
      for (const state of ENDPOINT_STATES) this.set({ state }, states[state]);
    },
  });
  reads.gauge(
    'counterfoil_webhook_failing_age_seconds',
    'How long no attempt has succeeded at the endpoint that has failed longest and is not disabled; 0 where none fails.',
    async () => {
      const states = await read();
      return states && Math.max(0, clock.now() - (states.failing_since ?? clock.now())) / SECOND_MS;
    },
  );
}
