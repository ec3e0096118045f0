// A merchant's server that takes webhooks on loopback: it verifies each, keeps it, and answers as a test says.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { hasValidSignature } from '../../src/webhooks/signing.ts';
import { eventually } from './waiting.ts';

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

/** The secrets of all endpoints that this process was told of. */
const secrets = new Set<string>();

/** Remembers the secret in an answer, if there is one. */
export function rememberSecret(answer: unknown): void {
  const secret = (answer as { data?: { secret?: unknown } } | undefined)?.data?.secret;
  if (typeof secret === 'string' && secret.startsWith('whsec_')) secrets.add(secret);
}

/** Whether the package of Standard Webhooks verifies what was received, at the time it says, with one of the secrets. */
function isStandard({ raw, headers, timestamp }: Received): boolean {
  const { now } = Date;
  Date.now = () => timestamp * 1000; // the package asks no other clock
  try {
    return [...secrets].some((secret) => {
      try {
        return new Webhook(secret).verify(raw, headers as Record<string, string>);
      } catch {
        return false;
      }
    });
  } finally {
    Date.now = now;
  }
}

export type Reply = (received: Received, response: ServerResponse) => void;

export const answering =
  (status: number, headers: Record<string, string> = {}, body = ''): Reply =>
  (_received, response) =>
    void response.writeHead(status, headers).end(body);

export class WebhookReceiver {
  readonly received: Received[] = [];
  reply: Reply = answering(200);
  /** Set where a test is not told the secrets: nothing is verified at the end then. */
  isUntold = false;
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
    return hasValidSignature({ secrets, headers, body: raw, now: timestamp * 1000 });
  }

  /** What came on a path, once there are `count`. */
  async have(count: number, path = '/hook'): Promise<Received[]> {
    const found = () => this.received.filter((one) => one.path === path);
    await eventually(
      () => found().length >= count,
      () => `${found().length} of ${count} webhooks came to ${path}`,
    );
    return found();
  }

  /** Closes it. Fails unless the package of Standard Webhooks verifies all that came. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    if (this.isUntold) return;
    const refused = this.received.filter((one) => !isStandard(one));
    assert.deepEqual(
      refused.map(({ path, id }) => `${path} ${id}`),
      [],
    );
  }
}
