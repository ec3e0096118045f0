// Ports of loopback that nobody listens on, for settings that must name one.
import { createServer } from 'node:net';

/** So many different ports; each was free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    probes.map(
      (probe) =>
        new Promise<number>((resolve) => {
          probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(probes.map((probe) => new Promise((closed) => probe.close(closed))));
  return ports;
}
