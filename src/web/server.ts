// The HTTP server below the framework: its limits, its TLS, and its answers to bytes that are no request.

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { descriptorLimit } from '../lib/descriptors.ts';
import { monotonicMs, SECOND_MS } from '../lib/time.ts';
import { onClientError, onConnect } from './errors.ts';

/** Node's own limits are made for friendlier callers: 60 s for headers, 300 s for a request, looked at every 30 s. */
export const LIMITS = {
  bodyBytes: 64 * 1024,
  headerBytes: 16 * 1024,
  headers: 64,
  headersTimeoutMs: 10 * SECOND_MS,
  requestTimeoutMs: 15 * SECOND_MS,
  /** From when a request is begun (`inCohorts`) to the beginning of its answer; more than a work of the journal or a read may take. */
  answerMs: 8.5 * SECOND_MS,
  checkTimeoutsEachMs: SECOND_MS,
  keepAliveTimeoutMs: 5 * SECOND_MS,
  requestsPerSocket: 1000,
  connections: 12_000,
};

/** Files that are open besides connections: the store's, the log's, and what commands of the console read. */
const OTHER_DESCRIPTORS = 512;

/** Time for which a closing server keeps idle connections, because their next request may be on its way. */
const LAST_REQUEST_MS = 100;

/**
 * TLS 1.2 and 1.3 with suites that are authenticated and whose recordings stay closed when the key is lost: Mozilla's intermediate
 * list (Server Side TLS 5.7), without those that need parameters of one's own (DHE).
 */
const TLS = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
} as const satisfies SecureContextOptions;

/** A certificate with its issuers and its private key, PEM. */
export interface KeyPair {
  cert: Buffer;
  key: Buffer;
}

/** What a server speaks TLS with; also for `setSecureContext`, when there is a new certificate. */
export function secureContext({ cert, key }: KeyPair): SecureContextOptions {
  return { ...TLS, cert, key };
}

/** The maximum number of connections of each address. Together they leave the process its other file descriptors. */
export function connectionsMaximum(addresses: number): number {
  const share = ((descriptorLimit() ?? Number.POSITIVE_INFINITY) - OTHER_DESCRIPTORS) / addresses;
  return Math.max(1, Math.floor(Math.min(LIMITS.connections, share)));
}

/** A server that does not listen yet, with TLS if there is a key pair. Well-formed requests go to `listener`. */
export function httpServer(listener: RequestListener, keyPair: KeyPair | undefined): Server {
  let closing: number | undefined; // since when, milliseconds
  const options = {
    ServerResponse: lastAnswers(() => closing !== undefined),
    headersTimeout: LIMITS.headersTimeoutMs,
    requestTimeout: LIMITS.requestTimeoutMs,
    keepAliveTimeout: LIMITS.keepAliveTimeoutMs,
    connectionsCheckingInterval: LIMITS.checkTimeoutsEachMs,
    maxHeaderSize: LIMITS.headerBytes,
    requireHostHeader: false, // answered by the framework, in our shape
  };
  const taken = inCohorts(listener);
  const server = keyPair ? tlsServer(options, taken, keyPair) : createServer(options, taken);
  // A client that has sent all and closed its side still gets its answer. Node would close the other side as soon as it reads the end.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxHeadersCount = LIMITS.headers + 1; // one more than allowed, so that too many can be reported
  const closeIdle = server.closeIdleConnections.bind(server);
  // Every close begins with this call, and the listener repeats it until all are gone.
  server.closeIdleConnections = () => {
    closing ??= monotonicMs();
    if (monotonicMs() - closing >= LAST_REQUEST_MS) setImmediate(closeIdle); // when what has arrived by now is read
  };
  // After the process was stopped, timers fire before the sockets are read. The next request may be among what arrived meanwhile.
  server.on('timeout', (socket) => {
    const { bytesRead } = socket;
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    });
  });
  server.on('connect', (_request, socket) => onConnect(socket as Socket));
  server.on('checkExpectation', (request, response) => {
    request.headers.expect = 'unmet';
    server.emit('request', request, response);
  });
  // With TLS, what fails before the handshake is done comes here too: there is nothing to answer with, and the connection ends.
  server.on('clientError', (error, socket) => onClientError(error, socket as Socket));
  return server;
}

/** Answers of a server which, once it closes, each say that they are the last of their connection, whenever its request came. */
function lastAnswers(isClosing: () => boolean): typeof ServerResponse {
  class Answer extends ServerResponse {
    // biome-ignore lint/suspicious/noExplicitAny: whatever the several forms of this method take
    override writeHead(...head: any): this {
      if (isClosing()) this.shouldKeepAlive = false;
      return super.writeHead(...(head as [number]));
    }
  }
  return Answer as typeof ServerResponse;
}

function tlsServer(options: object, listener: RequestListener, keyPair: KeyPair): Server {
  const server = createSecureServer(
    {
      ...options,
      ...secureContext(keyPair),
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: LIMITS.headersTimeoutMs,
    },
    listener,
  );
  // Node's own method skips connections whose TLS handshake is not finished, and would wait for them.
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.closeAllConnections = () => {
    for (const socket of connections) socket.destroy();
  };
  return server;
}

/** Maximum size of a cohort. So that what its requests hold between two steps stays in the processor's cache. */
const COHORT_MAXIMUM = 32;

/**
 * Hands requests on to `listener` once all that have arrived are read, in their order; not those whose connection is gone by then.
 * An `await` that does not wait for anything from outside then ends a step: the others of the cohort take the same one first, and find
 * its code in the processor's cache (Larus and Parkes: Using Cohort Scheduling to Enhance Server Performance, USENIX 2002).
 */
export function inCohorts(listener: RequestListener): RequestListener {
  const arrived: [IncomingMessage, ServerResponse][] = [];
  const next = () => {
    const cohort = arrived.splice(0, COHORT_MAXIMUM);
    if (arrived.length > 0) setImmediate(next);
    for (const [request, response] of cohort)
      if (!request.destroyed) listener(request, response as Parameters<RequestListener>[1]);
  };
  return (request, response) => {
    if (arrived.push([request, response]) === 1) setImmediate(next);
  };
}
