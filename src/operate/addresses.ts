// The addresses to listen on, settled and found free before anything else is begun.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { type Configuration, ConfigurationError } from './config.ts';
import { type Places, placesOf } from './settings/places.ts';

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
