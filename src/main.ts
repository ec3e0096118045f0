// Starts everything in order and stops it in reverse.
import type { FastifyInstance } from 'fastify';
import { Health } from './api/health.ts';
import { type AppParts, buildApp, VERSION } from './app.ts';
import { type Configuration, ConfigurationError, installationOf } from './config.ts';
import { countFailures } from './database/count-failures.ts';
import type { Database } from './database/database.ts';
import { migrate } from './database/migrate.ts';
import { holdStore, openDatabase, prepareStorage } from './database/open.ts';
import { freePort, PORTS_TRIED } from './http/free-port.ts';
import { trustedPeers } from './http/host-name.ts';
import { Listener } from './http/listener.ts';
import { refuser } from './http/refused-keys.ts';
import { createShell, type ShellParts } from './http/shell.ts';
import { followJournal } from './journal/follow.ts';
import { Journal } from './journal/journal.ts';
import { startCheckpoints } from './journal/sign-checkpoints.ts';
import type { Logger } from './lib/log.ts';
import type { Clock } from './lib/time.ts';
import { Directory } from './merchants/directory.ts';
import { directoryListeners } from './merchants/follow.ts';
import { KeyUses, startKeyUses } from './merchants/key-uses.ts';
import { Offer } from './methods/offer.ts';
import type { Measurements } from './metrics/measurements.ts';
import { addMetricsRoute } from './metrics/metrics.ts';
import { startSweeper } from './payments/expire.ts';
import { ReviewFigures } from './payments/review/figures.ts';
import { KeyPairUnfit, type LoadedKeyPair, loadKeyPair } from './settings/key-pair.ts';
import { type Places, placesOf, type Site } from './settings/places.ts';

export interface Service {
  baseUrl: string;
  checkoutBaseUrl: string;
  consoleBaseUrl: string;
  /** What serves the API, on the first address. */
  app: FastifyInstance;
  database: Database;
  journal: Journal;
  directory: Directory;
  keyUses: KeyUses;
  offer: Offer;
  /** The port asked for, when another had to be taken. */
  portTaken: number | undefined;
  /** Reads the certificate again, and shows it from now on; the old one goes on where it raises `KeyPairUnfit`. */
  renewCertificate(): void;
  /** Finishes what was accepted, signs a last checkpoint, closes the store. */
  stop(): Promise<void>;
}

/**
 * Starts the service. Raises `ConfigurationError`, `DatabaseError`, `SchemaTooNew`, `StorageExposed`, and the
 * system's `EADDRINUSE` where the port is fixed. `onBroken` is told of a failing disk, after which the process must end.
 */
export async function startService(
  configuration: Configuration,
  parts: {
    log: Logger;
    clock: Clock;
    onBroken: (error: Error) => void;
    /** Looks at the store before anything is done with it; what it raises keeps the service from starting. */
    onStore?: (database: Database) => Promise<void>;
    largestBatch?: number;
  },
): Promise<Service> {
  const { log, clock } = parts;
  const undo: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        log.error({ err: error }, 'a step of the stop failed'); // the others are owed theirs
      }
    }
  };
  try {
    const { tls } = configuration;
    prepareStorage(configuration.storage);
    undo.push(holdStore(configuration));
    const measurements = configuration.metrics ? await startMeasuring() : undefined;
    const opened = await openDatabase(configuration, parts.onBroken);
    const database = measurements ? countFailures(opened, measurements.failed) : opened;
    undo.push(() => database.close());
    await parts.onStore?.(database);
    await migrate(database);

    const journal = new Journal(database, clock, { ...parts, onCommit: measurements?.committed });
    const checkpoints = startCheckpoints(configuration.storage, database, clock, log);
    undo.push(() => checkpoints.stop());
    undo.push(() => journal.close());
    const sweeper = startSweeper(journal, clock, log);
    undo.push(() => sweeper.stop());

    const port = await portFor(configuration);
    const places = placesOf(configuration, port);
    const directory = new Directory(configuration.merchants, {
      testOnly: configuration.environment === 'development',
    });
    const follower = await followJournal(database, directoryListeners(database, directory), log);
    undo.push(() => follower.stop());
    const keyUses = new KeyUses(journal);
    const keyUsesWriter = startKeyUses(keyUses, log);
    undo.push(() => keyUsesWriter.stop());
    const offer = new Offer(configuration.methods, directory);
    const health = new Health(journal, () => follower.isFollowing());
    const figures = new ReviewFigures({ database, journal, clock, timeZone: configuration.time_zone });
    let keyPair = tls ? loadedKeyPair(configuration.file, tls, clock.now()) : undefined;
    const certificateEndsAt = () => keyPair?.endsAt;
    measurements?.watch({ journal, checkpoints, sweeper, figures, clock, log, certificateEndsAt });
    const metrics = measurements && (await openMetrics(configuration, measurements, log));
    undo.push(() => metrics?.close());
    const settings = settingsOf(configuration);
    const appParts: AppParts = {
      installation: installationOf(configuration, undefined, port),
      ...settings,
      database,
      journal,
      clock,
      directory,
      keyUses,
      offer,
      log,
      places,
      health,
      figures,
      refuse: refuser(settings.rateLimits, clock),
    };
    const listeners = await openListeners(configuration, places, keyPair, (site, server) =>
      buildApp(appParts, site, { server, observe: measurements?.observe }),
    );
    undo.push(() => Promise.all(listeners.map((listener) => listener.close())));
    undo.push(() => health.stopping());
    return {
      baseUrl: places.baseUrls.public,
      checkoutBaseUrl: places.checkoutBaseUrl,
      consoleBaseUrl: places.baseUrls.console,
      app: listeners[0]!.app,
      database,
      journal,
      directory,
      keyUses,
      offer,
      portTaken: port === configuration.port ? undefined : configuration.port,
      renewCertificate() {
        if (!tls) return;
        keyPair = loadKeyPair(tls, clock.now());
        for (const listener of listeners) listener.renew(keyPair);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What the surfaces are told of the configuration. */
function settingsOf(configuration: Configuration) {
  return {
    lifetimeS: configuration.payment_lifetime_s,
    httpsOnly: configuration.environment === 'production',
    timeZone: configuration.time_zone,
    storage: configuration.storage,
    fourEyesAbove: configuration.review.four_eyes_above,
    signInForms: configuration.sign_in_forms_per_address,
    limits: {
      perPayment: configuration.checkout_forms_per_payment,
      perAddress: configuration.checkout_forms_per_address,
    },
    rateLimits: configuration.rate_limits.enabled
      ? { ...configuration.rate_limits, nodes: configuration.nodes }
      : null,
    registration: {
      mode: configuration.registration.mode,
      contact: configuration.registration.contact,
      perAddress: configuration.registration.per_address,
    },
    trustProxy: configuration.trust_proxy,
  };
}

/** The measurements of this node; their library is loaded only where somebody asks for them. */
async function startMeasuring(): Promise<Measurements> {
  const { Measurements } = await import('./metrics/measurements.ts');
  return new Measurements(VERSION);
}

/** Listens for whoever reads the measurements. */
async function openMetrics(
  { metrics }: Configuration,
  measurements: Measurements,
  log: Logger,
): Promise<Listener | undefined> {
  if (!metrics) return undefined;
  const build = async (server: ShellParts['server']) => {
    const app = createShell({
      log,
      trustProxy: [],
      https: false,
      actor: () => ({}),
      server,
      observe: undefined,
    });
    addMetricsRoute(app, measurements);
    await app.ready();
    return app;
  };
  return Listener.open({ ...metrics, sites: [{ hostNames: [], build }] }, undefined, () => false);
}

/** The port to listen on: the configured one, or in development the next that is free. */
async function portFor(configuration: Configuration): Promise<number> {
  const { host, port, environment, portIsFixed, base_url } = configuration;
  const isMovable = environment === 'development' && !portIsFixed && !base_url;
  if (!isMovable && port !== 0) return port;
  const taken = [configuration.console, configuration.admin, configuration.metrics].map((one) => one?.port);
  const free = await freePort(host, port, taken);
  if (free === undefined)
    throw new ConfigurationError(`port: ${port} to ${port + PORTS_TRIED} are all taken`);
  return free;
}

/** The key pair to start with. Raises `ConfigurationError`. */
function loadedKeyPair(file: string, tls: NonNullable<Configuration['tls']>, now: number): LoadedKeyPair {
  try {
    return loadKeyPair(tls, now);
  } catch (error) {
    if (error instanceof KeyPairUnfit) throw new ConfigurationError(`${file}: ${error.message}`);
    throw error;
  }
}

/** Listens on every address, each with the sites it has. What was opened is closed when another cannot be. */
async function openListeners(
  { trust_proxy }: Configuration,
  places: Places,
  keyPair: LoadedKeyPair | undefined,
  build: (site: Site, server: ShellParts['server']) => Promise<FastifyInstance>,
): Promise<Listener[]> {
  const isTrusted = trustedPeers(trust_proxy);
  const opened: Listener[] = [];
  try {
    for (const { sites, ...address } of places.listeners) {
      const parts = sites.map((site) => ({
        hostNames: site.hostNames,
        build: (server: ShellParts['server']) => build(site, server),
      }));
      opened.push(await Listener.open({ ...address, sites: parts }, keyPair, isTrusted));
    }
  } catch (error) {
    await Promise.all(opened.map((listener) => listener.close()));
    throw error;
  }
  return opened;
}
