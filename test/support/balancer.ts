// A TCP balancer in front of several nodes: requests go round, refused ones go on to the next node, and some are cut on purpose.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { SeededRandom } from './seeded-random.ts';

const LOOPBACK = '127.0.0.1';

/** When a connection is cut: before its request went on, once it did, and with a part of the answer passed back. */
export const CUTS = ['before', 'behind', 'during'] as const;
export type Cut = (typeof CUTS)[number];

/**
 * What goes round are turns: a request with its answer. Clients that keep their connections meet another node at every request, as
 * behind balancers of HTTP. This takes answers that tell their length, and no pipelining; behind another answer a connection stays
 * where it is.
 */
export interface BalancerOptions {
  upstreams?: readonly number[];
  /** The port to listen on; any that is free unless given. */
  port?: number;
  /** The share of turns that are cut, from 0 to 1, and the chance that chooses them. */
  cut?: { share: number; random: SeededRandom };
}

export interface Balancer {
  port: number;
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** What was cut so far. */
  cuts: Record<Cut, number>;
  /** Sends new turns to this port as well. */
  add(upstream: number): void;
  /** Sends it nothing new; what is under way goes on. */
  remove(upstream: number): void;
  /** How many turns are under way there. */
  busy(upstream: number): number;
  /** The share of turns that are cut from now on; 0 ends it. */
  cutShare(share: number): void;
  close(): Promise<void>;
}

/** Starts to balance. */
export async function startBalancer(options: BalancerOptions = {}): Promise<Balancer> {
  const { cut } = options;
  const upstreams = [...(options.upstreams ?? [])];
  const cuts: Record<Cut, number> = { before: 0, behind: 0, during: 0 };
  const open = new Set<Socket>();
  const turns = new Set<Turn>();
  let share = cut?.share ?? 0;
  let next = 0;

  function fate(): Cut | undefined {
    if (!cut || share === 0 || !cut.random.chance(share)) return undefined;
    const chosen = cut.random.pick(CUTS);
    cuts[chosen] += 1;
    return chosen;
  }
  /** The upstreams, each once, beginning with whose turn it is. */
  function order(): number[] {
    const from = next++ % (upstreams.length || 1);
    return [...upstreams.slice(from), ...upstreams.slice(0, from)];
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    open.add(client);
    client.on('close', () => open.delete(client));
    let turn: Turn | undefined;
    const leave = () => {
      turn?.leave();
      if (turn) turns.delete(turn);
    };
    client.on('data', (chunk: Buffer) => {
      if (!turn || turn.isAnswered) {
        leave();
        turn = new Turn(client, order(), fate());
        turns.add(turn);
      }
      turn.send(chunk);
    });
    client.on('end', () => (turn ? turn.end() : client.end()));
    client.on('error', () => {}); // told by `close`
    client.on('close', leave);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, LOOPBACK, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://${LOOPBACK}:${port}`,
    cuts,
    add(upstream) {
      if (!upstreams.includes(upstream)) upstreams.push(upstream);
    },
    remove(upstream) {
      const at = upstreams.indexOf(upstream);
      if (at !== -1) upstreams.splice(at, 1);
    },
    busy: (upstream) => [...turns].filter((turn) => turn.at === upstream && !turn.isAnswered).length,
    cutShare(wanted) {
      share = wanted;
    },
    close() {
      for (const client of open) client.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** What a client sends until the answer to it is through, and the node that it goes to. */
class Turn {
  /** The port of the node that took it. */
  at: number | undefined;
  readonly #client: Socket;
  readonly #cut: Cut | undefined;
  /** How many bytes of the answer are still to come, once it has begun. */
  #missing: number | undefined;
  /** What waits for a node that takes the connection. */
  #waiting: Buffer[] = [];
  #isEnded = false;
  #isLeft = false;
  #upstream: Socket | undefined;

  constructor(client: Socket, ports: readonly number[], cut: Cut | undefined) {
    this.#client = client;
    this.#cut = cut;
    if (cut === 'before') client.resetAndDestroy();
    else this.#try(ports);
  }

  get isAnswered(): boolean {
    return this.#missing !== undefined && this.#missing <= 0;
  }

  /** Whether what becomes of the node's connection is nothing to the client any more. */
  get #isOver(): boolean {
    return this.#isLeft || this.isAnswered;
  }

  /** Connects to the first that takes it. Where none does the client is refused as well, as far as that is still possible. */
  #try([port, ...others]: readonly number[]): void {
    if (this.#isLeft) return;
    if (port === undefined) {
      this.#client.resetAndDestroy();
      return;
    }
    const upstream = connect({ port, host: LOOPBACK, allowHalfOpen: true, noDelay: true });
    upstream.once('error', () => this.#try(others)); // nothing was sent yet
    upstream.once('connect', () => {
      upstream.removeAllListeners('error');
      this.at = port;
      this.#begin(upstream);
    });
  }

  #begin(upstream: Socket): void {
    upstream.on('error', () => this.#isOver || this.#client.resetAndDestroy());
    if (this.#isLeft) {
      upstream.destroy();
      return;
    }
    this.#upstream = upstream;
    upstream.on('data', (chunk: Buffer) => this.#answer(chunk));
    upstream.on('end', () => this.#isOver || this.#client.end());
    upstream.on('close', () => this.#isOver || this.#client.destroySoon());
    for (const chunk of this.#waiting.splice(0)) this.send(chunk);
    if (this.#isEnded) upstream.end();
  }

  /** Passes on what the client says. */
  send(chunk: Buffer): void {
    if (!this.#upstream) {
      this.#waiting.push(chunk);
      return;
    }
    pass(chunk, this.#client, this.#upstream);
    if (this.#cut === 'behind') {
      this.#client.resetAndDestroy();
      this.#upstream.end();
    }
  }

  #answer(chunk: Buffer): void {
    if (this.#isLeft) return;
    this.#missing = (this.#missing ?? lengthOf(chunk)) - chunk.length;
    if (this.#cut !== 'during') {
      pass(chunk, this.#upstream!, this.#client);
      return;
    }
    this.#client.end(chunk.subarray(0, chunk.length >> 1));
    this.#upstream!.destroy();
  }

  /** The client has said all it had to say: a half-close, which the node is told. */
  end(): void {
    this.#isEnded = true;
    this.#upstream?.end();
  }

  /** Done with it, whether the client went or turns to the next node. */
  leave(): void {
    this.#isLeft = true;
    this.#upstream?.destroy();
  }
}

/** How long an answer is, its head included, by the first piece of it; without end where that does not tell. */
function lengthOf(first: Buffer): number {
  const end = first.indexOf('\r\n\r\n');
  const length = /^content-length: *(\d+)/im.exec(first.toString('latin1', 0, Math.max(0, end)))?.[1];
  return length === undefined ? Number.POSITIVE_INFINITY : end + 4 + Number(length);
}

/** Writes, and reads on once there is room. */
function pass(chunk: Buffer, from: Socket, to: Socket): void {
  if (to.destroyed || to.writableEnded || to.write(chunk)) return;
  from.pause();
  to.once('drain', () => from.resume());
}
