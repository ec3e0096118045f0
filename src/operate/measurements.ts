// The metrics of one node, for Prometheus: events are counted as they happen, states are read at each scrape.
import { setTimeout as pause } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { LastVerification } from '../journal/background-verification.ts';
import type { CheckpointRounds } from '../journal/checkpoint-signer.ts';
import type { Journal } from '../journal/journal.ts';
import type { Logger } from '../lib/log.ts';
import { type Clock, MINUTE_MS, monotonicMs, SECOND_MS } from '../lib/time.ts';
import { countLetters } from '../mail/queries.ts';
import type { MailWorker } from '../mail/worker.ts';
import type { EventStreams } from '../payments/events/streams.ts';
import type { Sweeper } from '../payments/expire.ts';
import type { Waits } from '../payments/waits.ts';
import type { ReviewFigures } from '../review/figures.ts';
import type { DatabaseFailure, Reader } from '../store/database.ts';
import type { Observe } from '../web/shell.ts';
import { ENDPOINT_STATES } from '../webhooks/endpoint.ts';
import { endpointStates, waitingDeliveries } from '../webhooks/queries.ts';
import type { WebhookWorker } from '../webhooks/worker.ts';

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

interface Measured {
  journal: Journal;
  checkpoints: CheckpointRounds;
  sweeper: Sweeper;
  streams: EventStreams;
  waits: Waits;
  figures: ReviewFigures;
  webhooks: Pick<WebhookWorker, 'counters' | 'isHeldUp'>;
  mail: { counters: MailWorker['counters'] | undefined };
  database: Reader;
  clock: Clock;
  log: Logger;
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
    const all = { ...ofNode(parts), ...ofWebhooks(parts), ...ofLetters(parts), ...ofStorage(parts) };
    for (const [name, { help, label, read, grows }] of Object.entries(all))
      new (grows ? Counter : Gauge)({
        name,
        help,
        labelNames: label ? [label] : [],
        registers: [this.#registry],
        async collect() {
          const values = await read();
          this.reset();
          if (values === undefined) this.remove({});
          else if (typeof values === 'number') this.inc(values);
          else
            for (const [value, count] of Object.entries(values)) this.inc({ [label!]: value }, Number(count));
        },
      });
  }

  /** The text that Prometheus reads, and its media type. */
  async text(): Promise<{ type: string; text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

type Values = number | Readonly<Record<string, number | boolean>> | undefined;

/** A metric that is read: one value, or one for each value of its `label`; left out while `read` gives undefined. */
interface ReadMetric {
  help: string;
  label?: string | undefined;
  grows?: true;
  read(): Values | Promise<Values>;
}
type ReadMetrics = Record<string, ReadMetric>;
type Read = () => number | null | undefined | Promise<number | null | undefined>;

/** What is now. */
const gauge = (help: string, read: ReadMetric['read'], label?: string): ReadMetric => ({ help, read, label });

/** What only grows. */
const total: typeof gauge = (...given) => ({ ...gauge(...given), grows: true });

/** A moment, milliseconds since 1970 as it is read. */
const moment = (help: string, readMs: Read): ReadMetric => ({
  help,
  async read() {
    const ms = await readMs();
    return ms == null ? undefined : ms / SECOND_MS;
  },
});

/** How many seconds ago a moment was, which is read in milliseconds since 1970: 0 if it is null. */
const age = (help: string, { clock }: Measured, readMs: Read): ReadMetric => ({
  help,
  async read() {
    const ms = await readMs();
    return ms === undefined ? undefined : Math.max(0, clock.now() - (ms ?? clock.now())) / SECOND_MS;
  },
});

function ofNode(parts: Measured): ReadMetrics {
  const { journal, checkpoints, sweeper, streams, waits, figures, log } = parts;
  const waiting = measured(log, 'the queue', () => figures.waiting());
  return {
    counterfoil_journal_commits_total: total('Commits of the journal.', () => journal.counters.commits),
    counterfoil_journal_works_total: total('Works that were committed.', () => journal.counters.works),
    counterfoil_journal_refused_works_total: total(
      'Works refused because too many waited, or because the node is stopping.',
      () => journal.counters.refused,
    ),
    counterfoil_journal_queue_works: gauge('Works that wait for their commit.', () => journal.queued),
    counterfoil_checkpoint_newest_timestamp_seconds: moment(
      'When the newest checkpoint was signed. None is signed while nothing changes.',
      checkpoints.newestAt,
    ),
    counterfoil_checkpoint_last_success_timestamp_seconds: moment(
      'When checkpoints were last seen to well, whether or not there was one to sign.',
      checkpoints.wellAt,
    ),
    counterfoil_sweeper_expired_payments_total: total(
      'Payments that this node wrote down as expired.',
      () => sweeper.counters.expired,
    ),
    counterfoil_sweeper_last_success_timestamp_seconds: moment(
      'When the sweeper last finished a round.',
      () => sweeper.counters.finishedAt,
    ),
    counterfoil_tls_certificate_expiry_timestamp_seconds: moment(
      'When the certificate ends that this node shows, where it speaks https itself.',
      parts.certificateEndsAt,
    ),
    counterfoil_event_streams: gauge('Event streams that are open.', () => streams.counters.open),
    counterfoil_event_streams_dropped_total: total(
      'Event streams that were ended because their client read too slowly.',
      () => streams.counters.dropped,
    ),
    counterfoil_payment_waits: gauge('Reads of payments that wait for a change.', () => waits.counters.open),
    counterfoil_review_waiting_payments: gauge(
      'Payments that wait for review, live and test, of all nodes.',
      async () => (await waiting())?.count,
    ),
    counterfoil_review_oldest_waiting_age_seconds: age(
      'How long the payment has waited for review that has waited longest; 0 where none does.',
      parts,
      async () => (await waiting())?.oldest,
    ),
  };
}

/** Those of the store are left out while it cannot be read. */
function ofWebhooks(parts: Measured): ReadMetrics {
  const { webhooks, database, log } = parts;
  const endpoints = measured(log, 'webhook endpoints', () => endpointStates(database));
  // Counted at most once a minute: there may be many.
  const waiting = rarely(measured(log, 'waiting deliveries', () => waitingDeliveries(database)));
  return {
    counterfoil_webhook_attempts_total: total(
      'Attempts of this node, by the status of the delivery after them: delivered, retrying or failed.',
      () => webhooks.counters,
      'status',
    ),
    counterfoil_webhooks_held_up: gauge(
      'Whether this node cannot deliver webhooks for now because of the store (1) or can (0). Payments may be well meanwhile.',
      () => Number(webhooks.isHeldUp),
    ),
    counterfoil_webhook_endpoints: gauge(
      'Webhook endpoints of all merchants, by their state: enabled, failing or disabled.',
      async () => {
        const states = await endpoints();
        return states && Object.fromEntries(ENDPOINT_STATES.map((state) => [state, states[state]]));
      },
      'state',
    ),
    counterfoil_webhook_failing_age_seconds: age(
      'How long no attempt has succeeded at the endpoint that has failed longest and is not disabled; 0 where none fails.',
      parts,
      async () => (await endpoints())?.failing_since,
    ),
    counterfoil_webhook_endpoint_disabled_timestamp_seconds: moment(
      'When the service last disabled an endpoint, which is disabled still, because its server was gone or failed for 5 days.',
      async () => (await endpoints())?.disabled_at,
    ),
    counterfoil_webhook_waiting_deliveries: gauge(
      'Deliveries to enabled endpoints that wait for their first or next attempt.',
      async () => (await waiting())?.count,
    ),
    counterfoil_webhook_oldest_waiting_age_seconds: age(
      'How long ago the delivery was queued that waits longest; 0 where none does.',
      parts,
      async () => (await waiting())?.oldest,
    ),
  };
}

function ofLetters(parts: Measured): ReadMetrics {
  const { mail, database, log } = parts;
  const { counters } = mail;
  if (!counters) return {};
  const letters = rarely(measured(log, 'letters', () => countLetters(database)));
  return {
    counterfoil_letter_attempts_total: total(
      'Attempts of this node to send a letter, by the status of the letter after them: sent, retrying or failed.',
      () => counters,
      'status',
    ),
    counterfoil_letters_waiting: gauge(
      'Letters that wait for their first or next attempt.',
      async () => (await letters())?.waiting,
    ),
    counterfoil_letters_oldest_waiting_age_seconds: age(
      'How long ago the letter was written that waits longest; 0 where none does.',
      parts,
      async () => (await letters())?.oldest,
    ),
    counterfoil_letters_failed: gauge(
      'Letters of the last 30 days that failed or came back, and were not sent again.',
      async () => (await letters())?.failed,
    ),
  };
}

function ofStorage({ holds, freeBytes, newestBackupAt, lastVerification, log }: Measured): ReadMetrics {
  return {
    counterfoil_ready: gauge(
      'Whether this node has what it needs to take requests, by the names of /health/ready: 1 or 0.',
      holds,
      'check',
    ),
    counterfoil_storage_free_bytes: gauge(
      'Room on the disk where storage lies.',
      measured(log, 'the room on the disk', freeBytes),
    ),
    counterfoil_backup_newest_timestamp_seconds: moment(
      'When the newest verified backup in the folder of backups was made; 0 where there is none.',
      // 0 where the folder is gone or cannot be read. A measurement that is missing would raise no alert.
      rarely(measured(log, 'the age of backups', newestBackupAt, 0)),
    ),
    counterfoil_verification_last_timestamp_seconds: moment(
      'When the history was last verified, by a command or on the console, from this storage folder.',
      () => lastVerification()?.at,
    ),
    counterfoil_verification_intact: gauge(
      'Whether the history was intact when it was last verified: 1 or 0.',
      () => lastVerification() && Number(lastVerification()?.intact),
    ),
    counterfoil_verification_acknowledged_faults: gauge(
      'How many faults the last verification found that an operator has acknowledged.',
      () => lastVerification()?.acknowledged,
    ),
  };
}

/** Returns a read that logs a failure, and gives `failed` then. `what` names the measurement. */
const measured =
  <T, F = undefined>(log: Logger, what: string, read: () => Promise<T>, failed?: F) =>
  (): Promise<T | F> =>
    read().catch((error) => {
      log.warn({ err: error }, `${what} could not be measured`);
      return failed as F;
    });

/**
 * Returns a function that gives the value read last, and reads again if that was a minute ago. The first time it waits for the read, a
 * second at most.
 */
function rarely<T>(read: () => Promise<T>): () => Promise<T | undefined> | T {
  let known: { value: T } | undefined;
  let underWay: Promise<T> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (!underWay && monotonicMs() - readAt >= MINUTE_MS) {
      readAt = monotonicMs();
      underWay = read()
        .then((value) => {
          known = { value };
          return value;
        })
        .finally(() => {
          underWay = undefined;
        });
    }
    return known ? known.value : Promise.race([underWay, pause(SECOND_MS, undefined, { ref: false })]);
  };
}
