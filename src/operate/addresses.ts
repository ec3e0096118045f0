// The addresses to listen on, settled and found free before anything else is begun.

import { freePort, holdPorts, PORTS_TRIED } from '../web/free-port.ts';
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
