// Listens on every address, each with the sites it has, and on the one that measurements are read at.
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../lib/log.ts';
import { defectReporter } from '../web/errors.ts';
import { trustedPeers } from '../web/host-name.ts';
import { Listener } from '../web/listener.ts';
import { addressForLog } from '../web/network.ts';
import { connectionsMaximum } from '../web/server.ts';
import { createShell, type ShellParts } from '../web/shell.ts';
import type { buildApp } from './app.ts';
import type { LoadedKeyPair } from './checks/key-pair.ts';
import type { Configuration } from './config.ts';
import type { Measurements } from './metrics/measurements.ts';
import type { Places, Site } from './settings/places.ts';

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
  const isTrusted = trustedPeers(trust_proxy);
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
