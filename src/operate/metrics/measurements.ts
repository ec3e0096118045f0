// The metrics of one node, for Prometheus: events are counted as they happen, states are read at each scrape.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { LastVerification } from '../../journal/background-verification.ts';
import type { CheckpointRounds } from '../../journal/checkpoint-signer.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Logger } from '../../lib/log.ts';
import type { Clock } from '../../lib/time.ts';
import { countLetters } from '../../mail/queries.ts';
import type { MailWorker } from '../../mail/worker.ts';
import type { EventStreams } from '../../payments/events/streams.ts';
import type { Sweeper } from '../../payments/expire.ts';
import type { Waits } from '../../payments/waits.ts';
import type { ReviewFigures } from '../../review/figures.ts';
import type { DatabaseFailure, Reader } from '../../store/database.ts';
import type { Observe } from '../../web/shell.ts';
import { waitingDeliveries } from '../../webhooks/delivery-queries.ts';
import { ENDPOINT_STATES } from '../../webhooks/endpoint.ts';
import { endpointStates } from '../../webhooks/queries.ts';
import type { WebhookWorker } from '../../webhooks/worker.ts';
import { measured, ReadMetrics, rarely } from './read-metrics.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const WORKS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/** HTTP methods by their name. All unknown ones share one label value, so that clients cannot make new ones. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Defaults of prom-client that promtool objects to: gauges that are called totals. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

interface Measured extends WebhooksMeasured, LettersMeasured {
  journal: Journal;
  checkpoints: CheckpointRounds;
  sweeper: Sweeper;
  streams: EventStreams;
  waits: Waits;
  figures: ReviewFigures;
  /** When the certificate ends, milliseconds since 1970; undefined where a proxy has it. */
  certificateEndsAt(): number | undefined;
  /** What a node needs to take requests, and whether it has it. */
  holds(): Promise<Readonly<Record<string, boolean>>>;
  /** What may still be written where storage lies, in bytes. */
  freeBytes(): Promise<number>;
  /** When the newest verified backup was made, milliseconds since 1970; 0 if there is none, undefined if no folder is set. */
  newestBackupAt(): Promise<number | undefined>;
  lastVerification(): LastVerification | undefined;
}

/** The metrics of one node. Labels have few values: patterns of routes, never addresses, and no personal data. */
export class Measurements {
  readonly #registry = new Registry();
  readonly #reads = new ReadMetrics(this.#registry);
  readonly #requests = new Histogram({
    name: 'counterfoil_http_request_duration_seconds',
    help: 'Requests answered, by the pattern of their route, method and status, and how long each took.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [this.#registry],
  });
  readonly #batches = new Histogram({
    name: 'counterfoil_journal_batch_works',
    help: 'Commits of the journal, and how many works each held.',
    buckets: WORKS,
    registers: [this.#registry],
  });
  readonly #failures = new Counter({
    name: 'counterfoil_store_errors_total',
    help: 'Failures of the store, by what could be done about them.',
    labelNames: ['failure'],
    registers: [this.#registry],
  });
  readonly #defects = new Counter({
    name: 'counterfoil_defects_total',
    help: 'Unexpected errors: requests answered 500, and pages that failed.',
    registers: [this.#registry],
  });

  /** `version` of the service. */
  constructor(version: string) {
    const labels = { version, node_version: process.version };
    new Gauge({
      name: 'counterfoil_build_info',
      help: 'Always 1; its labels say what runs.',
      labelNames: Object.keys(labels),
      registers: [this.#registry],
    }).set(labels, 1);
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
  }

  readonly observe: Observe = (route, method, status, seconds) => {
    const known = METHODS.has(method) ? method : 'other';
    this.#requests.observe({ method: known, route: route ?? 'unknown', status }, seconds);
  };

  readonly committed = (works: number): void => this.#batches.observe(works);

  readonly failed = (failure: DatabaseFailure): void => this.#failures.inc({ failure });

  readonly defect = (): void => this.#defects.inc();

  /** Adds the values that are read at each scrape. Call it once. */
  watch(parts: Measured): void {
    const { journal, checkpoints, sweeper, certificateEndsAt } = parts;
    this.#reads.total(
      'counterfoil_journal_commits_total',
      'Commits of the journal.',
      () => journal.counters.commits,
    );
    this.#reads.total(
      'counterfoil_journal_works_total',
      'Works that were committed.',
      () => journal.counters.works,
    );
    this.#reads.total(
      'counterfoil_journal_refused_works_total',
      'Works refused because too many waited, or because the node is stopping.',
      () => journal.counters.refused,
    );
    this.#reads.gauge(
      'counterfoil_journal_queue_works',
      'Works that wait for their commit.',
      () => journal.queued,
    );
    this.#reads.moment(
      'counterfoil_checkpoint_newest_timestamp_seconds',
      'When the newest checkpoint was signed. None is signed while nothing changes.',
      checkpoints.newestAt,
    );
    this.#reads.moment(
      'counterfoil_checkpoint_last_success_timestamp_seconds',
      'When checkpoints were last seen to well, whether or not there was one to sign.',
      checkpoints.wellAt,
    );
    this.#reads.total(
      'counterfoil_sweeper_expired_payments_total',
      'Payments that this node wrote down as expired.',
      () => sweeper.counters.expired,
    );
    this.#reads.moment(
      'counterfoil_sweeper_last_success_timestamp_seconds',
      'When the sweeper last finished a round.',
      () => sweeper.counters.finishedAt,
    );
    this.#reads.moment(
      'counterfoil_tls_certificate_expiry_timestamp_seconds',
      'When the certificate ends that this node shows, where it speaks https itself.',
      certificateEndsAt,
    );
    this.#watchStreams(parts);
    this.#watchReview(parts);
    watchWebhooks(this.#registry, this.#reads, parts);
    watchLetters(this.#registry, this.#reads, parts);
    this.#watchStorage(parts);
  }

  /** The text that Prometheus reads, and its media type. */
  async text(): Promise<{ type: string; text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #watchStreams({ streams, waits }: Measured): void {
    this.#reads.gauge(
      'counterfoil_event_streams',
      'Event streams that are open.',
      () => streams.counters.open,
    );
    this.#reads.total(
      'counterfoil_event_streams_dropped_total',
      'Event streams that were ended because their client read too slowly.',
      () => streams.counters.dropped,
    );
    this.#reads.gauge(
      'counterfoil_payment_waits',
      'Reads of payments that wait for a change.',
      () => waits.counters.open,
    );
  }

  #watchReview({ figures, clock, log }: Measured): void {
    const waiting = measured(log, 'the queue', () => figures.waiting());
    this.#reads.gauge(
      'counterfoil_review_waiting_payments',
      'Payments that wait for review, live and test, of all nodes.',
      async () => (await waiting())?.count,
    );
    this.#reads.age(
      'counterfoil_review_oldest_waiting_age_seconds',
      'How long the payment has waited for review that has waited longest; 0 where none does.',
      clock,
      async () => (await waiting())?.oldest,
    );
  }

  #watchStorage({ holds, freeBytes, newestBackupAt, lastVerification, log }: Measured): void {
    new Gauge({
      name: 'counterfoil_ready',
      help: 'Whether this node has what it needs to take requests, by the names of /health/ready: 1 or 0.',
      labelNames: ['check'],
      registers: [this.#registry],
      async collect() {
        for (const [check, is] of Object.entries(await holds())) this.set({ check }, Number(is));
      },
    });
    this.#reads.gauge(
      'counterfoil_storage_free_bytes',
      'Room on the disk where storage lies.',
      measured(log, 'the room on the disk', freeBytes),
    );
    this.#reads.moment(
      'counterfoil_backup_newest_timestamp_seconds',
      'When the newest verified backup in the folder of backups was made; 0 where there is none.',
      // 0 where the folder is gone or cannot be read. A measurement that is missing would raise no alert.
      rarely(measured(log, 'the age of backups', newestBackupAt, 0)),
    );
    this.#reads.moment(
      'counterfoil_verification_last_timestamp_seconds',
      'When the history was last verified, by a command or on the console, from this storage folder.',
      () => lastVerification()?.at,
    );
    this.#reads.gauge(
      'counterfoil_verification_intact',
      'Whether the history was intact when it was last verified: 1 or 0.',
      () => lastVerification() && Number(lastVerification()?.intact),
    );
    this.#reads.gauge(
      'counterfoil_verification_acknowledged_faults',
      'How many faults the last verification found that an operator has acknowledged.',
      () => lastVerification()?.acknowledged,
    );
  }
}

interface LettersMeasured {
  mail: { counters: MailWorker['counters'] | undefined };
  database: Reader;
  clock: Clock;
  log: Logger;
}

function watchLetters(
  registry: Registry,
  reads: ReadMetrics,
  { mail: { counters }, database, clock, log }: LettersMeasured,
): void {
  if (!counters) return;
  new Counter({
    name: 'counterfoil_letter_attempts_total',
    help: 'Attempts of this node to send a letter, by the status of the letter after them: sent, retrying or failed.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [status, count] of Object.entries(counters)) this.inc({ status }, count);
    },
  });
  const read = rarely(measured(log, 'letters', () => countLetters(database)));
  reads.gauge(
    'counterfoil_letters_waiting',
    'Letters that wait for their first or next attempt.',
    async () => (await read())?.waiting,
  );
  reads.age(
    'counterfoil_letters_oldest_waiting_age_seconds',
    'How long ago the letter was written that waits longest; 0 where none does.',
    clock,
    async () => (await read())?.oldest,
  );
  reads.gauge(
    'counterfoil_letters_failed',
    'Letters of the last 30 days that failed or came back, and were not sent again.',
    async () => (await read())?.failed,
  );
}

/** What the metrics of webhooks are read from. */
interface WebhooksMeasured {
  webhooks: Pick<WebhookWorker, 'counters' | 'isHeldUp'>;
  database: Reader;
  clock: Clock;
  log: Logger;
}

/** Adds the metrics of webhooks. Those of the store are left out while it cannot be read. */
function watchWebhooks(registry: Registry, reads: ReadMetrics, measured: WebhooksMeasured): void {
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
