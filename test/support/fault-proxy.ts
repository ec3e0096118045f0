// A TCP proxy that breaks what passes it, as networks do: slow, silent, cut or closed to newcomers, switched while it runs.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-ports.ts';
import type { SeededRandom } from './seeded-random.ts';

const LOOPBACK = '127.0.0.1';

/**
 * What may be wrong with the way to a server:
 * - `latency`: every piece comes later, by so much and up to `jitterMs` more
 * - `bandwidth`: so many bytes a second, each way
 * - `stall`: nothing arrives; all of it does, in order, when the fault is over, as when a cable is put back within TCP's patience
 * - `blackhole`: what is sent is lost and connections stay open; those that lost something are reset when the fault is over, as by a
 *   firewall that forgot them
 * - `reset`: every connection is reset, once; new ones are taken
 * - `half-close`: every connection's one side is told, once, that the other will say no more
 * - `refuse`: every connection is reset, and new ones are refused
 */
export type Fault =
  | { kind: 'latency'; ms: number; jitterMs: number }
  | { kind: 'bandwidth'; bytesPerSecond: number }
  | { kind: 'half-close'; side: 'client' | 'server' }
  | { kind: 'stall' | 'blackhole' | 'reset' | 'refuse' };

/** A fault of each kind, its measures chosen by chance. */
export const FAULTS: Record<Fault['kind'], (random: SeededRandom) => Fault> = {
  latency: (random) => ({ kind: 'latency', ms: random.between(5, 60), jitterMs: random.between(0, 60) }),
  bandwidth: (random) => ({ kind: 'bandwidth', bytesPerSecond: random.between(20_000, 200_000) }),
  'half-close': (random) => ({ kind: 'half-close', side: random.pick(['client', 'server'] as const) }),
  stall: () => ({ kind: 'stall' }),
  blackhole: () => ({ kind: 'blackhole' }),
  reset: () => ({ kind: 'reset' }),
  refuse: () => ({ kind: 'refuse' }),
};

interface Pair {
  client: Socket;
  server: Socket;
  /** Something that was sent over it never arrived: no order can be made of what follows. */
  isTorn: boolean;
}

export class FaultProxy {
  readonly port: number;
  readonly #upstream: number;
  readonly #random: SeededRandom;
  readonly #pairs = new Set<Pair>();
  #listener = createServer();
  #fault: Fault | undefined;
  /** What is held back waits for this. */
  #over = Promise.withResolvers<void>();

  private constructor(upstream: number, random: SeededRandom, port: number) {
    this.#upstream = upstream;
    this.#random = random;
    this.port = port;
  }

  /** Starts a proxy without a fault in front of a port of this machine. `random` chooses the jitter. */
  static async start(upstream: number, random: SeededRandom): Promise<FaultProxy> {
    const proxy = new FaultProxy(upstream, random, await freePort());
    await proxy.#listen();
    return proxy;
  }

  /** The connections that pass through it now, by the ports that the server sees them come from. */
  get connections(): number[] {
    return [...this.#pairs].map(({ server }) => server.localPort!);
  }

  /** Begins a fault, in the place of the one before if that is not over. */
  async begin(fault: Fault): Promise<void> {
    await this.heal();
    this.#fault = fault;
    if (fault.kind === 'refuse') {
      const closed = once(this.#listener, 'close');
      this.#listener.close();
      this.#reset(() => true);
      await closed;
    }
    if (fault.kind === 'reset') this.#reset(() => true);
    if (fault.kind === 'half-close') for (const pair of this.#pairs) pair[fault.side].end();
  }

  /** Ends the fault: what was held back goes on, what lost something is reset, newcomers are taken again. */
  async heal(): Promise<void> {
    const ended = this.#fault;
    this.#fault = undefined;
    this.#over.resolve();
    this.#over = Promise.withResolvers();
    this.#reset(({ isTorn }) => isTorn);
    if (ended?.kind === 'refuse') await this.#listen();
  }

  async close(): Promise<void> {
    await this.heal();
    const closed = once(this.#listener, 'close');
    this.#listener.close();
    this.#reset(() => true);
    await closed;
  }

  async #listen(): Promise<void> {
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#take(client));
    this.#listener.listen(this.port, LOOPBACK);
    await once(this.#listener, 'listening');
  }

  #take(client: Socket): void {
    const server = connect({ port: this.#upstream, host: LOOPBACK, allowHalfOpen: true, noDelay: true });
    const pair: Pair = { client, server, isTorn: false };
    this.#pairs.add(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => {}); // told by `close`
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
      void this.#carry(pair, from, to).catch(() => from.destroy());
    }
  }

  /** Carries one direction, piece by piece, each as the fault of its moment allows. */
  async #carry(pair: Pair, from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (!(await this.#passes(pair, chunk.length))) continue;
      if (!to.write(chunk)) await once(to, 'drain');
    }
    if (await this.#passes(pair, 0)) to.end(); // that one side has no more to say is lost like all else
  }

  /** Waits for as long as `bytes` are kept back; says whether they arrive. */
  async #passes(pair: Pair, bytes: number): Promise<boolean> {
    for (;;) {
      const fault = this.#fault;
      if (fault?.kind === 'blackhole') pair.isTorn = true;
      if (pair.isTorn) return false;
      if (fault?.kind === 'stall') {
        await this.#over.promise;
        continue; // another fault may have come by now
      }
      if (fault?.kind === 'latency') await delay(fault.ms + this.#random.next() * fault.jitterMs);
      if (fault?.kind === 'bandwidth') await delay((bytes / fault.bytesPerSecond) * 1000);
      return true;
    }
  }

  #reset(which: (pair: Pair) => boolean): void {
    for (const pair of [...this.#pairs].filter(which)) {
      pair.client.resetAndDestroy();
      pair.server.resetAndDestroy();
      this.#pairs.delete(pair);
    }
  }
}
