// Where the service listens: the addresses, found free before anything else is begun, and the sites of each.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../lib/log.ts';
import { defectReporter } from '../web/errors.ts';
import { Listener } from '../web/listener.ts';
import { addressForLog, inNetworks } from '../web/network.ts';
import { connectionsMaximum } from '../web/server.ts';
import { createShell, type ShellParts } from '../web/shell.ts';
import type { buildApp } from './app.ts';
import type { LoadedKeyPair } from './checks/certificate-checks.ts';
import { type Configuration, ConfigurationError } from './config.ts';
import type { Measurements } from './measurements.ts';
import { type Places, placesOf, type Site } from './settings/places.ts';

/** A handful of programs read the measurements. */
const METRICS_CONNECTIONS = 64;

/**
 * Listens on the addresses of all sites, which `build` builds. What was opened is closed when another cannot be; throws the system's
 * errors (`EADDRINUSE`).
 */
export async function openListeners(
  { trust_proxy }: Pick<Configuration, 'trust_proxy'>,
  places: Pick<Places, 'listeners'>,
  keyPair: LoadedKeyPair | undefined,
  build: (site: Site, server: ShellParts['server']) => ReturnType<typeof buildApp>,
): Promise<Listener[]> {
  const isTrusted = inNetworks(trust_proxy);
  const connections = connectionsMaximum(places.listeners.length);
  const opened: Listener[] = [];
  try {
    for (const { sites, ...address } of places.listeners) {
      const parts = sites.map((site) => ({
        hostNames: site.hostNames,
        build: (server: ShellParts['server']) => build(site, server),
      }));
      opened.push(await Listener.open({ ...address, sites: parts, connections }, keyPair, isTrusted));
    }
  } catch (error) {
    await Promise.all(opened.map((listener) => listener.close()));
    throw error;
  }
  return opened;
}

/** Listens on the address of the metrics. Throws the system's errors (`EADDRINUSE`). */
export async function openMetrics(
  address: { host: string; port: number },
  measurements: Measurements,
  log: Logger,
): Promise<Listener> {
  const build = async (server: ShellParts['server']) => {
    const app = createShell({
      log,
      trustProxy: [],
      https: false,
      plainHttp: undefined,
      actor: () => ({}),
      server,
      observe: undefined,
      defect: defectReporter(log, measurements.defect),
      loggedAddress: addressForLog('network', ''),
    });
    addMetricsRoute(app, measurements);
    await app.ready();
    return app;
  };
  const parts = { ...address, sites: [{ hostNames: [], build }], connections: METRICS_CONNECTIONS };
  return Listener.open(parts, undefined, () => false);
}

/** Registers the one route that there is. */
function addMetricsRoute(app: FastifyInstance, measurements: Measurements): void {
  app.get('/metrics', async (_request, reply) => {
    const { type, text } = await measurements.text();
    return reply
      .headers({ 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
      .send(text);
  });
}

/**
 * Where everything will be, with the port that is taken. All addresses were listened on for a moment, together. Throws
 * `ConfigurationError`, and the system's errors where one cannot be listened on (`EADDRINUSE`), with the name
 * of its `setting` where that is not `port`.
 */
export async function freePlaces(configuration: Configuration): Promise<Places & { port: number }> {
  const port = await portFor(configuration);
  const places = placesOf(configuration, port);
  const { metrics } = configuration;
  const named = [
    ...places.listeners.map(({ port, sites }, i) => ({
      port,
      setting: `${sites[0]!.surfaces[0]}.port`,
      isOwn: i > 0,
    })),
    ...(metrics ? [{ port: metrics.port, setting: 'metrics.port', isOwn: true }] : []),
  ];
  try {
    await holdPorts([...places.listeners, ...(metrics ? [metrics] : [])]);
  } catch (error) {
    const taken = named.find((one) => one.isOwn && one.port === (error as { port?: number }).port);
    throw Object.assign(error as Error, { setting: taken?.setting });
  }
  return { ...places, port };
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

/** Maximum number of ports that are tried after the first. */
const PORTS_TRIED = 20;

/**
 * The first free port from `port` on that is not in `spokenFor`, or undefined if all are taken; 0 lets the system choose one. Throws the
 * system's errors if `host` cannot be listened on.
 */
async function freePort(
  host: string,
  port: number,
  spokenFor: readonly (number | undefined)[] = [],
): Promise<number | undefined> {
  for (let candidate = port; candidate <= port + PORTS_TRIED && candidate <= 65535; candidate++) {
    if (candidate !== port && spokenFor.includes(candidate)) continue;
    try {
      const [found] = await holdPorts([{ host, port: candidate }]);
      return found;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  return undefined;
}

/**
 * Listens on all addresses together, lets go of them, and gives their ports. Throws the system's errors where one cannot be listened
 * on, or not beside another (`EADDRINUSE`).
 */
async function holdPorts(addresses: readonly { host: string; port: number }[]): Promise<number[]> {
  const held: Server[] = [];
  try {
    for (const { host, port } of addresses) {
      const server = createServer();
      held.push(server);
      server.listen({ host, port });
      await once(server, 'listening');
    }
    return held.map((server) => (server.address() as AddressInfo).port);
  } finally {
    await Promise.all(held.filter((server) => server.listening).map((server) => closed(server)));
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
