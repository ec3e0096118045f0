// An address that is listened on, and the sites behind it: each request goes to the one whose host name it asks for.
import type { RequestListener, Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { SECOND_MS } from '../lib/time.ts';
import { hostNameOf } from './host-name.ts';
import { httpServer, type KeyPair, secureContext } from './server.ts';

/** After this long, connections that still hold a close up are cut: by then whatever was accepted is answered (`LIMITS.answerMs`). */
const CLOSE_PATIENCE_MS = 9 * SECOND_MS;
/** Interval at which a closing server closes idle connections. */
const IDLE_EACH_MS = 50;

/** Builds what answers for one site, on the server that `server` makes for its handler. */
type Build = (server: (handler: RequestListener) => Server) => Promise<FastifyInstance>;

interface SiteParts {
  /** In lower case. */
  hostNames: readonly string[];
  build: Build;
}

interface ListenerParts {
  host: string;
  port: number;
  sites: readonly SiteParts[];
  /** Maximum number of connections. A further one is closed at once. */
  connections: number;
}

export class Listener {
  /** What answers where no other site is asked for. */
  readonly app: FastifyInstance;
  readonly #others: readonly FastifyInstance[];
  readonly #servers: readonly Server[];

  private constructor(app: FastifyInstance, others: readonly FastifyInstance[], servers: readonly Server[]) {
    this.app = app;
    this.#others = others;
    this.#servers = servers;
  }

  /**
   * Builds the sites and listens, with TLS if there is a key pair. The first site answers for all host names that no other has.
   * `isTrusted` says whose X-Forwarded-Host counts. Throws the system's errors (`EADDRINUSE`).
   */
  static async open(
    { host, port, sites, connections }: ListenerParts,
    keyPair: KeyPair | undefined,
    isTrusted: (address: string | undefined) => boolean,
  ): Promise<Listener> {
    const handlers = new Map<string, RequestListener>();
    const others: FastifyInstance[] = [];
    for (const { hostNames, build } of sites.slice(1)) {
      const app = await build((handler) => httpServer(handler, undefined)); // never listens itself
      others.push(app);
      for (const name of hostNames) handlers.set(name, (request, response) => app.routing(request, response));
    }
    const servers: Server[] = [];
    const app = await sites[0]!.build((handler) => {
      const dispatch: RequestListener = (request, response) =>
        (handlers.get(hostNameOf(request, isTrusted)) ?? handler)(request, response);
      const server = httpServer(handlers.size === 0 ? handler : dispatch, keyPair);
      server.maxConnections = connections;
      servers.push(server); // several where `localhost` is several addresses
      return server;
    });
    const listener = new Listener(app, others, servers);
    try {
      await app.listen({ host, port });
    } catch (error) {
      await listener.close();
      throw error;
    }
    return listener;
  }

  /** Uses another certificate for new connections. Open connections go on. */
  renew(keyPair: KeyPair): void {
    this.#each((server) => (server as Server & Secure).setSecureContext(secureContext(keyPair)));
  }

  /** Takes no more connections, finishes what was accepted, and cuts what takes too long. */
  async close(): Promise<void> {
    // A request that was under way is answered with the connection left open: nothing is to come on it.
    const idle = setInterval(() => this.#each((server) => server.closeIdleConnections()), IDLE_EACH_MS);
    const late = setTimeout(() => this.#each((server) => server.closeAllConnections()), CLOSE_PATIENCE_MS);
    await Promise.all([this.app, ...this.#others].map((app) => app.close()));
    clearInterval(idle);
    clearTimeout(late);
  }
  #each(act: (server: Server) => void): void {
    for (const server of this.#servers) act(server);
  }
}

interface Secure {
  setSecureContext(options: ReturnType<typeof secureContext>): void;
}
