// Clients that speak https to a proxy: over connections that are kept, over HTTP/2, and byte by byte.

import type { IncomingHttpHeaders } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';

/** The host name that the configurations of deploy/ are written for. */
export const HOST = 'pay.example';

/** Where https is spoken on this machine, and the certificate that is shown there. */
export interface Endpoint {
  port: number;
  certificate: string;
}

export interface ProxyAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface ProxyRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Which of this machine's addresses the client has. */
  from?: string;
}

/** A client that keeps its connections to a proxy and holds it to its certificate. */
export function newHttpsClient({ port, certificate }: Endpoint, connections = 8) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ca: certificate });
  return {
    /** `path` as it stands in the request line. Fails where the connection does. */
    call(
      path: string,
      { method = 'GET', headers = {}, body, from }: ProxyRequest = {},
    ): Promise<ProxyAnswer> {
      return new Promise((resolve, reject) => {
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
        const sent = request(
          {
            agent,
            host: '127.0.0.1',
            port,
            servername: HOST,
            path,
            method,
            headers: { host: HOST, ...length, ...headers },
            ...(from && { localAddress: from }),
          },
          async (response) => {
            try {
              const { statusCode, headers } = response;
              resolve({ status: statusCode!, headers, text: await text(response) });
            } catch (error) {
              reject(error);
            }
          },
        );
        sent.on('error', reject);
        sent.end(body);
      });
    },
    close: () => agent.destroy(),
  };
}

export type HttpsClient = ReturnType<typeof newHttpsClient>;

/** Where a proxy keeps a connection open all the same. */
const SILENT_MS = 20_000;

/**
 * Sends bytes to a proxy over TLS, and behind them a request for /health that says it is the last. Answers with all that comes back until
 * the proxy closes.
 */
export function exchangeTls({ port, certificate }: Endpoint, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', servername: HOST, ca: certificate }, () =>
      socket.write(`${bytes}GET /health HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`, 'latin1'),
    );
    socket.setTimeout(SILENT_MS, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => {}); // a reset is an answer, too
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

/** The version of TLS that is agreed on. */
export function handshake({ port, certificate: ca }: Endpoint, options: object = {}): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername: HOST, ca, ...options }, () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** The status of an answer over HTTP/2. */
export function statusOverHttp2({ port, certificate: ca }: Endpoint, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca, servername: HOST });
    session.on('error', reject);
    const stream = session.request({ ':path': path, ':authority': HOST });
    stream.on('response', (headers) => {
      resolve(headers[':status']!);
      session.close();
    });
    stream.on('error', reject).resume();
  });
}
