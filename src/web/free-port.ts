// Finds free ports by listening on them for a moment.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** How many ports behind the first are tried. */
export const PORTS_TRIED = 20;

/**
 * The first free port from `port` on that is not in `spokenFor`, or undefined if all are taken; 0 lets the system choose one. Throws the
 * system's errors if `host` cannot be listened on.
 */
export async function freePort(
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
export async function holdPorts(addresses: readonly { host: string; port: number }[]): Promise<number[]> {
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
