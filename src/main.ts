// Starts everything in order and stops it in reverse.
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';
import { type Configuration, ConfigurationError } from './config.ts';
import type { Database } from './database/database.ts';
import { migrate } from './database/migrate.ts';
import { holdStore, openDatabase, prepareStorage } from './database/open.ts';
import { CheckpointSigner } from './journal/checkpoint-signer.ts';
import { followJournal } from './journal/follow.ts';
import { Journal } from './journal/journal.ts';
import { findSeal, newestSeal } from './journal/queries.ts';
import type { Logger } from './lib/log.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from './lib/time.ts';
import { Directory } from './merchants/merchant.ts';
import { suspensionListener } from './merchants/suspend.ts';
import { Offer } from './methods/offer.ts';
import { startSweeper } from './payments/expire.ts';

const CHECKPOINT_EVERY_MS = MINUTE_MS;
/** After this long, connections that still hold the stop up are cut. */
const STOP_PATIENCE_MS = 5 * SECOND_MS;
/** How many ports behind the configured one are tried in development. */
const PORTS_TRIED = 20;

export interface Service {
  baseUrl: string;
  checkoutBaseUrl: string;
  app: FastifyInstance;
  database: Database;
  journal: Journal;
  directory: Directory;
  offer: Offer;
  /** The port asked for, when another had to be taken. */
  portTaken: number | undefined;
  /** Finishes what was accepted, signs a last checkpoint, closes the store. */
  stop(): Promise<void>;
}

/**
 * Starts the service. Raises `ConfigurationError`, `DatabaseError`, `SchemaTooNew`, `StorageExposed`, and the
 * system's `EADDRINUSE` where the port is fixed. `onBroken` is told of a failing disk, after which the process must end.
 */
export async function startService(
  configuration: Configuration,
  parts: { log: Logger; clock: Clock; onBroken: (error: Error) => void; largestBatch?: number },
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
    prepareStorage(configuration.storage);
    undo.push(holdStore(configuration));
    const database = await openDatabase(configuration, parts.onBroken);
    undo.push(() => database.close());
    await migrate(database);

    const journal = new Journal(database, clock, parts);
    const checkpoints = startCheckpoints(configuration.storage, database, clock, log);
    undo.push(() => checkpoints.stop());
    undo.push(() => journal.close());
    const sweeper = startSweeper(journal, log);
    undo.push(() => sweeper.stop());

    const { host } = configuration;
    const movable =
      configuration.environment === 'development' && !configuration.portIsFixed && !configuration.base_url;
    const port = movable
      ? await freePort(host, configuration.port)
      : configuration.port || (await freePort(host, 0));
    const baseUrl = baseUrlOf(configuration, port);
    const checkoutBaseUrl = configuration.checkout_base_url ?? baseUrl;
    const directory = new Directory(configuration.merchants);
    const follower = await followJournal(database, [suspensionListener(database, directory)], log);
    undo.push(() => follower.stop());
    const offer = new Offer(configuration.methods, configuration.merchants);
    const app = await buildApp({
      database,
      journal,
      clock,
      directory,
      offer,
      log,
      baseUrl,
      checkoutBaseUrl,
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
      trustProxy: configuration.trust_proxy,
    });
    undo.push(() => closeApp(app));
    await app.listen({ host, port });
    const portTaken = port === configuration.port ? undefined : configuration.port;
    return { baseUrl, checkoutBaseUrl, app, database, journal, directory, offer, portTaken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address that the service is reached at: the one that is set, else where it listens. Without a slash at its end. */
export function baseUrlOf({ base_url, host, port: configured }: Configuration, port = configured): string {
  return base_url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function closeApp(app: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), STOP_PATIENCE_MS);
  await app.close();
  clearTimeout(timer);
}

/** Signs the newest seal every minute and at the stop, whoever made it. */
function startCheckpoints(
  storage: string,
  database: Database,
  clock: Clock,
  log: Logger,
): { stop(): Promise<void> } {
  const signer = new CheckpointSigner(storage);
  const history = {
    newest: () => newestSeal(database),
    numbered: (number: number) => findSeal(database, number),
  };
  const sign = async () => {
    try {
      await signer.sign(history, clock.now());
    } catch (error) {
      log.error({ err: error }, 'no checkpoint could be signed');
    }
  };
  let signing = Promise.resolve();
  const signNext = () => {
    signing = signing.then(sign); // one after the other, or an older seal could come behind a newer
    return signing;
  };
  const timer = setInterval(signNext, CHECKPOINT_EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await signNext();
    },
  };
}

/** The first port from `port` on that nobody listens on; 0 lets the system choose one. */
async function freePort(host: string, port: number): Promise<number> {
  for (let candidate = port; candidate <= port + PORTS_TRIED && candidate <= 65535; candidate++) {
    const found = await new Promise<number | undefined>((resolve, reject) => {
      const probe = createServer();
      probe.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
      );
      probe.listen({ host, port: candidate }, () => {
        const address = probe.address();
        probe.close(() => resolve(typeof address === 'object' && address ? address.port : candidate));
      });
    });
    if (found !== undefined) return found;
  }
  throw new ConfigurationError(`port: ${port} to ${port + PORTS_TRIED} are all taken`);
}
