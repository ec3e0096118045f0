// Finds a port that nobody listens on, by listening for a moment.
import { createServer } from 'node:net';

/** How many ports behind the first are tried. */
export const PORTS_TRIED = 20;

/**
 * The first port from `port` on that nobody listens on and nobody is about to (`spokenFor`), nothing where all are taken; 0 lets the
 * system choose one. Raises the system's errors where `host` cannot be listened on.
 */
export async function freePort(
  host: string,
  port: number,
  spokenFor: readonly (number | undefined)[] = [],
): Promise<number | undefined> {
  for (let candidate = port; candidate <= port + PORTS_TRIED && candidate <= 65535; candidate++) {
    if (candidate !== port && spokenFor.includes(candidate)) continue;
    const found = await tryPort(host, candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

function tryPort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    probe.listen({ host, port }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}
