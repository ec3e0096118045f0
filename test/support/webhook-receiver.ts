// A merchant's server that takes webhooks on loopback: it verifies each, keeps it, and answers as a test says.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyWebhook } from '../../src/webhooks/signing.ts';

export interface Received {
  path: string;
  id: string;
  /** Seconds since 1970. */
  timestamp: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  event: any;
  raw: string;
  headers: IncomingMessage['headers'];
  /** Milliseconds since 1970, by this machine. */
  at: number;
}

export type Reply = (received: Received, response: ServerResponse) => void;

export const answering =
  (status: number, headers: Record<string, string> = {}, body = ''): Reply =>
  (_received, response) =>
    void response.writeHead(status, headers).end(body);

export class WebhookReceiver {
  readonly received: Received[] = [];
  reply: Reply = answering(200);
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  /** A name, since endpoints take no IP address. */
  url(path = '/hook'): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = Buffer.concat(await request.toArray()).toString();
    const received: Received = {
      path: request.url!,
      id: String(request.headers['webhook-id']),
      timestamp: Number(request.headers['webhook-timestamp']),
      event: JSON.parse(raw),
      raw,
      headers: request.headers,
      at: Date.now(),
    };
    this.received.push(received);
    this.reply(received, response);
  }

  /** Whether one of `secrets` signed what was received, at the time it says. */
  static isSigned({ raw, headers, timestamp }: Received, secrets: readonly string[]): boolean {
    return verifyWebhook({ secrets, headers, body: raw, now: timestamp * 1000 });
  }

  /** What came on a path, once there are `count`. */
  async have(count: number, path = '/hook', withinMs = 10_000): Promise<Received[]> {
    for (const end = Date.now() + withinMs; ; ) {
      const found = this.received.filter((one) => one.path === path);
      if (found.length >= count) return found;
      if (Date.now() > end) throw new Error(`${found.length} of ${count} webhooks came to ${path}`);
      await delay(10);
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
