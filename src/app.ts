// The whole service without a port: every route, limit and error answer, wired from what it is given.
import type { Socket } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import packageJson from '../package.json' with { type: 'json' };
import { adminApi } from './admin-api/admin.ts';
import { adminDescription } from './admin-api/openapi.ts';
import { addHealthRoute } from './api/health.ts';
import { apiDescription } from './api/openapi.ts';
import { v1 } from './api/v1.ts';
import { type Checkout, checkout } from './checkout/checkout.ts';
import { type ConsoleSettings, consolePages } from './console/console.ts';
import { Verification } from './console/verification.ts';
import type { Database } from './database/database.ts';
import {
  asOperationalError,
  collectMethods,
  notFound,
  onClientError,
  onConnect,
  sendError,
  URL_MAXIMUM,
} from './http/errors.ts';
import { API_HEADERS } from './http/headers.ts';
import { openApiDocument } from './http/openapi.ts';
import type { PolicyReport } from './http/policy-reports.ts';
import { CheckpointLookup } from './journal/checkpoint-lookup.ts';
import type { Journal } from './journal/journal.ts';
import { OperationalError, unavailable } from './lib/errors.ts';
import { randomId } from './lib/ids.ts';
import type { Logger } from './lib/log.ts';
import { type Clock, SECOND_MS } from './lib/time.ts';
import { isHttps, pathOf, STRICT_TRANSPORT } from './lib/web-address.ts';
import type { Directory } from './merchants/merchant.ts';
import type { Offer } from './methods/offer.ts';
import { ReviewFigures } from './payments/review/figures.ts';
import { ROW_CHECKS } from './payments/row-checks.ts';

export const VERSION = packageJson.version;

/** Node's own limits are made for friendlier callers: 60 s for headers, 300 s for a request, looked at every 30 s. */
const LIMITS = {
  bodyBytes: 64 * 1024,
  headerBytes: 16 * 1024,
  headers: 64,
  headersTimeoutMs: 10 * SECOND_MS,
  requestTimeoutMs: 15 * SECOND_MS,
  checkTimeoutsEachMs: SECOND_MS,
  keepAliveTimeoutMs: 5 * SECOND_MS,
  requestsPerSocket: 1000,
};

export interface AppParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  directory: Directory;
  offer: Offer;
  log: Logger;
  baseUrl: string;
  checkoutBaseUrl: string;
  lifetimeS: number;
  httpsOnly: boolean;
  timeZone: string;
  /** The private directory. */
  storage: string;
  /** Minor units by currency above which a second administrator must confirm. */
  fourEyesAbove: Readonly<Record<string, number>>;
  limits: Checkout['limits'];
  /** How many forms of signing in to the console one network address may send in 15 minutes. */
  signInForms: number;
  /** Addresses and networks whose X-Forwarded-For is believed. */
  trustProxy: readonly string[];
}

/** Builds the service. Base URLs come without a slash at their end; their paths are where it serves. */
export async function buildApp(parts: AppParts): Promise<FastifyInstance> {
  const { journal, clock, log, baseUrl, checkoutBaseUrl, trustProxy } = parts;
  const basePath = pathOf(baseUrl);
  const checkoutPath = pathOf(checkoutBaseUrl);
  const https = isHttps(baseUrl) && isHttps(checkoutBaseUrl);
  const app = fastify({
    logger: false,
    genReqId: () => randomId('req_', 16),
    requestIdHeader: false,
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    bodyLimit: LIMITS.bodyBytes,
    requestTimeout: LIMITS.requestTimeoutMs,
    keepAliveTimeout: LIMITS.keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what was accepted is finished
    http: {
      headersTimeout: LIMITS.headersTimeoutMs,
      connectionsCheckingInterval: LIMITS.checkTimeoutsEachMs,
      maxHeaderSize: LIMITS.headerBytes,
      requireHostHeader: false, // answered below, in our shape
    },
    routerOptions: {
      caseSensitive: true,
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
      maxParamLength: LIMITS.headerBytes,
    },
    frameworkErrors: (error, request, reply) => {
      sendError(error, request, reply, log);
    },
    clientErrorHandler: (error, socket) => onClientError(error as NodeJS.ErrnoException, socket),
  });
  app.server.maxHeadersCount = LIMITS.headers + 1; // one more than allowed, so that too many can be told
  app.server.on('connect', (_request, socket) => onConnect(socket as Socket));
  app.server.on('checkExpectation', (request, response) => {
    request.headers.expect = 'unmet';
    app.server.emit('request', request, response);
  });

  const allowed = collectMethods(app);
  app.removeAllContentTypeParsers();
  const requestsOn = new WeakMap<object, number>();
  app.addHook('onRequest', ({ id, raw, headers }, reply, done) => {
    reply.header('x-request-id', id);
    if (https) reply.header('strict-transport-security', STRICT_TRANSPORT);
    // Counted here, since Node's own limit answers what exceeds it with a 503 of its own.
    const count = (requestsOn.get(raw.socket) ?? 0) + 1;
    requestsOn.set(raw.socket, count);
    if (count >= LIMITS.requestsPerSocket) reply.header('connection', 'close');
    if (count > LIMITS.requestsPerSocket)
      done(unavailable()); // sent behind the last one: never carried out
    else done(syntaxFault(raw.rawHeaders, raw.httpVersion, raw.url!, headers.expect));
  });
  app.addHook('onResponse', (request, reply, done) => {
    log.info(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 100) / 100,
        ...(request.caller && { merchant: request.caller.merchant.id, key: request.caller.key.id }),
        ...(request.principal && { administrator: request.principal.id, token: request.principal.token }),
      },
      'request',
    );
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    if (request.is404) {
      const allow = allowed(request.raw.url!);
      if (allow) reply.header('allow', allow);
    }
    return sendError(error, request, reply, log);
  });
  app.setNotFoundHandler(() => {
    throw notFound();
  });
  app.addHook('preParsing', (request, _reply, _payload, done) => done(request.is404 ? notFound() : null));

  addHealthRoute(app, `${basePath}/health`, journal, clock, VERSION);
  const document = JSON.stringify(openApiDocument(baseUrl, VERSION, [apiDescription, adminDescription]));
  app.get(`${basePath}/openapi.json`, (_request, reply) => reply.headers(API_HEADERS).send(document));
  app.register(v1, { ...parts, prefix: `${basePath}/v1` });
  const checkpoints = new CheckpointLookup(parts.storage);
  app.register(adminApi, { ...parts, checkpoints, prefix: `${basePath}/admin` });
  const pages = {
    asOperationalError,
    report: (error: unknown, requestId: string) =>
      log.error({ request_id: requestId, err: error }, 'a page failed'),
    warn: (message: string, requestId: string) => log.warn({ request_id: requestId }, message),
    reportPolicy: (found: PolicyReport) =>
      log.warn(found, 'a browser reports that the content security policy stopped something'),
  };
  const verification = new Verification(parts, ROW_CHECKS, (error) =>
    log.error({ err: error }, 'verifying the history failed'),
  );
  app.addHook('onClose', () => verification.stop());
  app.register(consolePages, {
    ...parts,
    ...pages,
    checkpoints,
    figures: new ReviewFigures(parts),
    verification,
    prefix: `${basePath}/console`,
  } satisfies ConsoleSettings & {
    prefix: string;
  });
  app.register(checkout, {
    ...parts,
    ...pages,
    prefix: checkoutPath,
  } satisfies Checkout & { prefix: string });
  await app.ready();
  return app;
}

/** What is wrong with a request before anybody asks what it wants (RFC 9112, sections 3 and 5). */
function syntaxFault(
  rawHeaders: readonly string[],
  httpVersion: string,
  url: string,
  expect: string | undefined,
): Error | undefined {
  if (httpVersion === '0.9') {
    return new OperationalError('bad_request', 'The request is not well-formed HTTP.'); // a line without a version
  }
  if (rawHeaders.length > 2 * LIMITS.headers) {
    return new OperationalError('headers_too_large', `The request has more than ${LIMITS.headers} headers.`);
  }
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    return new OperationalError('bad_request', 'The request must have one Host header.');
  }
  if (expect === 'unmet')
    return new OperationalError('bad_request', 'The Expect header asks for what this server does not do.');
  if (url.length > URL_MAXIMUM)
    return new OperationalError('uri_too_long', `The request target is longer than ${URL_MAXIMUM} bytes.`);
  return undefined;
}
