// A TCP relay in front of PostgreSQL that counts, for each transaction, how often its client waited for the server.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Each answer comes so much later: what a client sends without waiting for it has arrived by then. */
const ANSWER_DELAY_MS = 40;

export interface RelayedTransaction {
  /** What the client sent, from BEGIN to COMMIT or ROLLBACK. */
  sent: string;
  /** How often it had to wait for an answer before it could go on. */
  waits: number;
}

export interface CountingRelay {
  port: number;
  /** The transactions that have ended, of all connections. */
  transactions: RelayedTransaction[];
  /** Cuts the connection whose transaction is the next to contain this, behind which the server's answers are lost. */
  cutAt(pattern: RegExp): void;
  close(): Promise<void>;
}

/** Starts a relay to a port of this machine. */
export async function startCountingRelay(upstream: number): Promise<CountingRelay> {
  const transactions: RelayedTransaction[] = [];
  const sockets = new Set<Socket>();
  let cutAt: RegExp | undefined;
  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: upstream, host: '127.0.0.1', noDelay: true });
    let open: RelayedTransaction | undefined;
    let isAnswered = true;
    let isCut = false;
    client.on('data', (chunk) => {
      server.write(chunk);
      const text = chunk.toString('latin1');
      let sent = text;
      if (/begin/.test(text)) open = { sent: '', waits: 0 };
      if (open) {
        if (isAnswered) open.waits += 1;
        open.sent += text;
        sent = open.sent;
        if (/Q....(commit|rollback)\0/s.test(text)) {
          transactions.push(open);
          open = undefined;
        }
      }
      isAnswered = false;
      if (cutAt?.test(sent)) {
        cutAt = undefined;
        isCut = true;
        client.destroy();
      }
    });
    server.on('data', async (chunk) => {
      await delay(ANSWER_DELAY_MS);
      isAnswered = true;
      if (!isCut) client.write(chunk);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}); // told by `close`
      one.on('close', () => {
        sockets.delete(one);
        other.end();
      });
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    transactions,
    cutAt: (pattern) => (cutAt = pattern),
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
