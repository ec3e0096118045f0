// Starts everything in order and stops it in reverse.
import type { FastifyInstance } from 'fastify';
import { lastVerification } from '../journal/background-verification.ts';
import type { Feed } from '../journal/feed.ts';
import type { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { openRing } from '../journal/keys/open-ring.ts';
import { Fence, vouchedIn } from '../journal/known-seal.ts';
import type { Transaction } from '../journal/transaction.ts';
import type { Logger } from '../lib/log.ts';
import type { Clock } from '../lib/time.ts';
import { VERSION } from '../lib/version.ts';
import { Directory } from '../merchants/directory.ts';
import type { KeyUses } from '../merchants/key-uses.ts';
import type { Caller } from '../merchants/merchant.ts';
import { createPayment } from '../payments/create.ts';
import type { EventStreams } from '../payments/events/streams.ts';
import { keepAnswer } from '../payments/idempotency.ts';
import { Offer } from '../payments/methods/offer.ts';
import { DEFAULT_TERMS } from '../payments/pay-by.ts';
import { PAYMENT_ID_PREFIX } from '../payments/payment.ts';
import { movePayment } from '../payments/queries.ts';
import { parsePaymentRequest } from '../payments/request.ts';
import type { Waits } from '../payments/waits.ts';
import { ReviewFigures } from '../review/figures.ts';
import { onStatement } from '../statements/matching/bank-fact.ts';
import { countFailures, type Database } from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import { freeBytes, hasRoom, holdStore, openDatabase, prepareStorage } from '../store/open.ts';
import { defectReporter } from '../web/errors.ts';
import { Health } from '../web/health.ts';
import { refuser } from '../web/rate-limit.ts';
import type { WebhookWorker } from '../webhooks/worker.ts';
import { buildApp } from './app.ts';
import { loadKeyPair } from './checks/certificate-checks.ts';
import { newestBackupAt } from './checks/folder-checks.ts';
import { type Configuration, installationOf, surfaceSettings } from './config.ts';
import { freePlaces, openListeners, openMetrics } from './listeners.ts';
import { startMail } from './mail.ts';
import type { Measurements } from './measurements.ts';
import { webhookRules } from './settings/merchants.ts';
import { type Pace, startCounters, startFollowing, startWork, Undo } from './work.ts';

export interface Service {
  baseUrl: string;
  checkoutBaseUrl: string;
  consoleBaseUrl: string;
  /** What serves the API, on the first address. */
  app: FastifyInstance;
  database: Database;
  journal: Journal;
  ring: KeyRing;
  directory: Directory;
  keyUses: KeyUses;
  offer: Offer;
  feed: Feed;
  streams: EventStreams;
  waits: Waits;
  webhooks: WebhookWorker;
  /** The port asked for, when another had to be taken. */
  portTaken: number | undefined;
  /** Reads the certificate again, and shows it from now on; the old one goes on where it throws `KeyPairUnfit`. */
  renewCertificate(): void;
  /** Finishes what was accepted, signs a last checkpoint, closes the store. */
  stop(): Promise<void>;
}

interface StartParts {
  log: Logger;
  clock: Clock;
  /** Told of a failing disk, after which the process must end. */
  onBroken: (error: Error) => void;
  /** Looks at the store before anything is done with it; what it throws keeps the service from starting. */
  onStore?: (database: Database) => Promise<void>;
  largestBatch?: number;
  pace?: Pace;
}

/**
 * Starts the service. Throws `KeyPairUnfit`, `ConfigurationError`, `DatabaseError`, `SchemaTooNew`, `StorageExposed`, `SecretKeysUnfit`,
 * and the system's `EADDRINUSE` where the port is fixed.
 */
export async function startService(configuration: Configuration, parts: StartParts): Promise<Service> {
  const undo = new Undo(parts.log);
  try {
    return await start(configuration, parts, undo);
  } catch (error) {
    await undo.run();
    throw error;
  }
}

/** Adds the end of each thing that it begins to `undo`, which the caller runs if this throws. */
async function start(configuration: Configuration, parts: StartParts, undo: Undo): Promise<Service> {
  const { log, clock } = parts;
  const { tls, metrics, time_zone: timeZone } = configuration;
  // What may keep it from starting comes first: a refused start leaves the store as it was.
  let keyPair = tls ? loadKeyPair(tls, clock.now(), timeZone) : undefined;
  const places = await freePlaces(configuration);
  const measurements = metrics ? await startMeasuring() : undefined;
  const fence = new Fence((await vouchedIn(configuration.storage))[0], log);
  const database = await openStore(configuration, parts, fence, measurements, undo);

  const ring = await openRing(database, configuration, clock);
  const base = { configuration, database, ring, fence, measurements, undo };
  const running = startWork(base, parts);
  const { journal, webhooks, feed, streams, waits } = running;
  const directory = new Directory(configuration.merchants, {
    testOnly: configuration.environment === 'development',
  });
  const follower = await startFollowing(base, { directory, webhooks }, parts);
  const { keyUses, tally } = startCounters(journal, parts, undo);
  const offer = new Offer(configuration.methods, directory);
  const health = new Health({
    journal,
    isFollowing: () => follower.isFollowing(),
    hasRoom: () => hasRoom(configuration),
    rehearsal: rehearseCreate,
    log,
  });
  const figures = new ReviewFigures({ database, journal, clock, timeZone, onStatement });
  const mail = await startMail({ ...base, ...running, clock, log, directory, offer, figures, places });
  if (metrics && measurements) {
    const certificateEndsAt = () => keyPair?.endsAt;
    measurements.watch({
      ...{ ...running, mail, database, figures, clock, log, certificateEndsAt },
      holds: () => health.holds(),
      ...storageMeasures(configuration, clock),
    });
    const listener = await openMetrics(metrics, measurements, log);
    undo.add(() => listener.close());
  }

  const settings = surfaceSettings(configuration);
  const appParts = {
    ...settings,
    ...{ log, clock, database, journal, ring, directory },
    ...{ keyUses, offer, health, figures, tally, places, streams, waits, mail, ...parts.pace },
    webhookRules: webhookRules(configuration),
    installation: installationOf(configuration, undefined, places.port),
    refuse: refuser(settings.rateLimits, clock),
    defect: defectReporter(log, measurements?.defect),
  };
  const listeners = await openListeners(configuration, places, keyPair, (site, server) =>
    buildApp(appParts, site, { server, observe: measurements?.observe }),
  );
  undo.add(() => Promise.all(listeners.map((listener) => listener.close())));
  undo.add(() => [health.stopping(), streams.stop(), waits.stop()]);
  return {
    ...{ database, journal, ring, directory, keyUses, offer, feed, streams, waits, webhooks },
    baseUrl: places.baseUrls.public,
    checkoutBaseUrl: places.checkoutBaseUrl,
    consoleBaseUrl: places.baseUrls.console,
    app: listeners[0]!.app,
    portTaken: places.port === configuration.port ? undefined : configuration.port,
    renewCertificate() {
      if (!tls) return;
      keyPair = loadKeyPair(tls, clock.now(), timeZone);
      for (const listener of listeners) listener.renew(keyPair);
    },
    stop: () => undo.run(),
  };
}

function storageMeasures({ storage, backups }: Configuration, clock: Clock) {
  return {
    freeBytes: () => freeBytes(storage),
    newestBackupAt: async () => (backups === null ? undefined : newestBackupAt(backups, clock.now())),
    lastVerification: () => lastVerification(storage),
  };
}

/** The metrics of this node. Their library is loaded only if metrics are on. */
async function startMeasuring(): Promise<Measurements> {
  const { Measurements } = await import('./measurements.ts');
  return new Measurements(VERSION);
}

/** Opens the store for this server alone, looks at it, and only then brings its schema up to date. */
async function openStore(
  configuration: Configuration,
  parts: StartParts,
  fence: Fence,
  measurements: Measurements | undefined,
  undo: Undo,
): Promise<Database> {
  prepareStorage(configuration.storage);
  undo.add(holdStore(configuration));
  const opened = await openDatabase(configuration, parts.onBroken, fence, parts.pace?.answerMs);
  undo.add(() => opened.close());
  if (!(await hasRoom(configuration)))
    parts.log.warn(
      'the disk is full: what is stored is served, and changes are answered 503 until there is room',
    );
  await parts.onStore?.(opened);
  await migrate(opened);
  // From here on: that a new database has no tables yet is no failure.
  return measurements ? countFailures(opened, measurements.failed) : opened;
}

const CALLER: Caller = {
  merchant: { id: 'mer_rehearsal', name: 'Rehearsal' },
  key: { id: 'key_rehearsal', digest: '', mode: 'test', expires_at: null },
  limits: {},
  actor: 'clock',
};
const REQUEST = parsePaymentRequest({ amount: 1 }, { strict: true, httpsOnly: true });
/** The id of no payment. The move finds no row, and fails where the statement or the right is missing. */
const NOBODY = `${PAYMENT_ID_PREFIX}rehearsal`;

/** For `Journal.rehearse`, which rolls it back. Throws `DatabaseError`. */
async function rehearseCreate(transaction: Transaction): Promise<void> {
  const act = { actor: CALLER.actor, request_id: null };
  await movePayment(transaction, 'cancel', NOBODY, {}, { status_reason: 'cancelled_by_merchant' });
  const { id } = createPayment(transaction, CALLER, act, REQUEST, DEFAULT_TERMS);
  keepAnswer(transaction, id, id, { status: 201, body: '' });
}
