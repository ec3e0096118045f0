// How webhook endpoints and their deliveries stand, for Prometheus.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Logger } from '../../lib/log.ts';
import type { Clock } from '../../lib/time.ts';
import type { Reader } from '../../store/database.ts';
import { waitingDeliveries } from '../../webhooks/delivery-queries.ts';
import { ENDPOINT_STATES } from '../../webhooks/endpoint.ts';
import { endpointStates } from '../../webhooks/queries.ts';
import type { WebhookWorker } from '../../webhooks/worker.ts';
import type { ReadMetrics } from './read-metrics.ts';
import { measured, rarely } from './read-metrics.ts';

/** What the metrics of webhooks are read from. */
export interface WebhooksMeasured {
  webhooks: Pick<WebhookWorker, 'counters' | 'isHeldUp'>;
  database: Reader;
  clock: Clock;
  log: Logger;
}

/** Adds the metrics of webhooks. Those of the store are left out while it cannot be read. */
export function watchWebhooks(registry: Registry, reads: ReadMetrics, measured: WebhooksMeasured): void {
  watchAttempts(registry, measured);
  watchWorker(registry, measured);
  watchEndpoints(registry, reads, measured);
  watchWaiting(reads, measured);
}

function watchAttempts(registry: Registry, { webhooks }: WebhooksMeasured): void {
  new Counter({
    name: 'counterfoil_webhook_attempts_total',
    help: 'Attempts of this node, by the status of the delivery after them: delivered, retrying or failed.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [status, count] of Object.entries(webhooks.counters)) this.inc({ status }, count);
    },
  });
}

function watchWorker(registry: Registry, { webhooks }: WebhooksMeasured): void {
  new Gauge({
    name: 'counterfoil_webhooks_held_up',
    help: 'Whether this node cannot deliver webhooks for now because of the store (1) or can (0). Payments may be well meanwhile.',
    registers: [registry],
    collect() {
      this.set(webhooks.isHeldUp ? 1 : 0);
    },
  });
}

function watchEndpoints(
  registry: Registry,
  reads: ReadMetrics,
  { clock, log, database }: WebhooksMeasured,
): void {
  const read = measured(log, 'webhook endpoints', () => endpointStates(database));
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
  reads.age(
    'counterfoil_webhook_failing_age_seconds',
    'How long no attempt has succeeded at the endpoint that has failed longest and is not disabled; 0 where none fails.',
    clock,
    async () => (await read())?.failing_since,
  );
  reads.moment(
    'counterfoil_webhook_endpoint_disabled_timestamp_seconds',
    'When the service last disabled an endpoint, which is disabled still, because its server was gone or failed for 5 days.',
    async () => (await read())?.disabled_at ?? undefined,
  );
}

/** Deliveries that wait are counted at most once a minute: there may be many. */
function watchWaiting(reads: ReadMetrics, { clock, log, database }: WebhooksMeasured): void {
  const read = rarely(measured(log, 'waiting deliveries', () => waitingDeliveries(database)));
  reads.gauge(
    'counterfoil_webhook_waiting_deliveries',
    'Deliveries to enabled endpoints that wait for their first or next attempt.',
    async () => (await read())?.count,
  );
  reads.age(
    'counterfoil_webhook_oldest_waiting_age_seconds',
    'How long ago the delivery was queued that waits longest; 0 where none does.',
    clock,
    async () => (await read())?.oldest,
  );
}
