// A lean HTTP client for campaigns: kept connections, and an answer or nothing, never an exception.
import { Agent, request } from 'node:http';

const JSON_TYPE = 'application/json';

/** What came back: status and whole body. */
export interface LoadAnswer {
  status: number;
  text: string;
  replayed: boolean;
  /** From the call to the end of the answer. */
  ms: number;
}

/** A refusal that comes sooner has another cause than a server that stood still. */
const STILL_MS = 1000;

/** Whether a server that stood still, or its store, has given up what waited for it. It may be done all the same, and is no loss if not. */
export const gaveUp = ({ status, ms }: Pick<LoadAnswer, 'status' | 'ms'>) => status === 503 && ms >= STILL_MS;

export interface LoadClient {
  /** Sends `body` as JSON. Answers nothing when the connection broke before the whole answer was there. */
  post(path: string, body?: object, idempotencyKey?: string): Promise<LoadAnswer | undefined>;
  get(path: string): Promise<LoadAnswer | undefined>;
  close(): void;
}

/**
 * Opens up to `connections` connections to `origin`, with `key` as the API key. `keepAlive: false` opens one for each request: kept
 * connections may be closed by the server at the very moment that a request is sent on them.
 */
export function loadClient(
  origin: string,
  key: string,
  connections: number,
  { keepAlive = true } = {},
): LoadClient {
  const agent = new Agent({ keepAlive, maxSockets: connections });
  const { hostname, port, pathname } = new URL(origin);
  const prefix = pathname === '/' ? '' : pathname;

  function send(
    method: string,
    path: string,
    body?: object,
    idempotencyKey?: string,
  ): Promise<LoadAnswer | undefined> {
    const begun = performance.now();
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': JSON_TYPE }),
      ...(method === 'POST' ? { 'content-length': Buffer.byteLength(text) } : {}),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    };
    return new Promise((resolve) => {
      const outgoing = request(
        { agent, hostname, port, method, path: prefix + path, headers },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', () => resolve(undefined));
          incoming.on('close', () => resolve(undefined)); // after `end` this says nothing any more
          incoming.on('end', () => {
            if (!incoming.complete) return resolve(undefined);
            resolve({
              status: incoming.statusCode!,
              text: Buffer.concat(chunks).toString('utf8'),
              replayed: incoming.headers['idempotency-replayed'] === 'true',
              ms: performance.now() - begun,
            });
          });
        },
      );
      outgoing.on('error', () => resolve(undefined));
      outgoing.end(text);
    });
  }

  return {
    post: (path, body, idempotencyKey) => send('POST', path, body, idempotencyKey),
    get: (path) => send('GET', path),
    close: () => agent.destroy(),
  };
}
