// What every surface stands in: the framework with ids, limits, timeouts, log lines and the one shape of errors, and no routes yet.
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { Socket } from 'node:net';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { OperationalError, unavailable } from '../lib/errors.ts';
import { randomId } from '../lib/ids.ts';
import { monotonicMs } from '../lib/time.ts';
import { STRICT_TRANSPORT } from '../lib/web-address.ts';
import {
  asOperationalError,
  collectMethods,
  type Defect,
  noteError,
  notFound,
  sendError,
  URL_MAXIMUM,
} from './errors.ts';
import { logRequest, type RequestLog } from './request-log.ts';
import { LIMITS } from './server.ts';

export interface ShellParts extends RequestLog {
  /** Addresses and networks whose X-Forwarded-For is believed. */
  trustProxy: readonly string[];
  /** Whether all of it is reached by https. Browsers are then told to use https only (HSTS). */
  https: boolean;
  /** Who may come by plain HTTP, where https alone is promised and this server does not speak it; undefined where all may. */
  plainHttp: PlainHttp | undefined;
  /** Makes the server whose requests `handler` answers. */
  server(handler: FastifyInstance['routing']): Server;
  defect: Defect;
  /** How long a request may be handled, where it is not the usual time; in milliseconds. */
  answerMs?: number | undefined;
  /** The page for a browser that asks for an address at which there is nothing; if undefined, it is answered as programs are. */
  nowhere?:
    | ((request: FastifyRequest) => { headers: Readonly<Record<string, string>>; text: string })
    | undefined;
  /** Called for each answered request, if metrics are on. */
  observe: Observe | undefined;
}

/** `route` is the pattern, or undefined if no route matches. `seconds` from the request's headers to the answer's end. */
export type Observe = (route: string | undefined, method: string, status: number, seconds: number) => void;

interface PlainHttp {
  mayCome(socket: Socket): boolean;
  /** Paths that are also served over plain http: load balancers check a node's health from addresses of their own. */
  openRoutes: ReadonlySet<string>;
}

/** Counted here, since Node's own limit answers what exceeds it with a 503 of its own. */
const requestsOn = new WeakMap<object, number>();

/** No route has a schema of the framework's: the compilers of these would be a quarter of what a start loads. */
const withoutSchemas = () => () => {
  throw new Error('requests are read, and answers written, without schemas of the framework');
};

/** Builds the framework for one site. Whatever is added to it stands behind its checks and is logged. */
export function createShell(parts: ShellParts): FastifyInstance {
  const { trustProxy } = parts;
  const app = fastify({
    logger: false,
    genReqId: () => randomId('req_', 16),
    requestIdHeader: false,
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    bodyLimit: LIMITS.bodyBytes,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what was accepted is finished
    exposeHeadRoutes: false, // see `answerHead`
    pluginTimeout: 0, // what is added waits for nothing, and each route would have a timer
    serverFactory: (handler) => parts.server(handler),
    schemaController: {
      compilersFactory: { buildValidator: withoutSchemas, buildSerializer: withoutSchemas },
    },
    routerOptions: {
      caseSensitive: true,
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
      maxParamLength: LIMITS.headerBytes,
    },
    frameworkErrors: (error, request, reply) => {
      sendError(error, request, reply, parts);
    },
    clientErrorHandler: () => {}, // the server's own listener answers, also where several sites share it
  });
  answerHead(app);
  const allowed = collectMethods(app);
  app.removeAllContentTypeParsers();
  app.decorateRequest('noted');
  limitHandlers(app, parts.answerMs);
  app.addHook('onRequest', (request, reply, done) => admit(parts, request, reply, done));
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(parts, request, reply);
    const route = request.is404 ? undefined : request.routeOptions.url;
    // Who was asked to wait would make the service look slow.
    if (reply.patienceMs === 0)
      parts.observe?.(route, request.method, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    if (request.is404) {
      const allow = allowed(request.method, request.raw.url!);
      if (allow) reply.header('allow', allow);
      const known = asOperationalError(error);
      if (parts.nowhere && !allow && known?.code === 'not_found' && asksForPage(request)) {
        noteError(request, known);
        const { headers, text } = parts.nowhere(request);
        return reply.code(known.status).headers(headers).send(text);
      }
    }
    return sendError(error, request, reply, parts);
  });
  app.setNotFoundHandler(() => {
    throw notFound();
  });
  app.addHook('preParsing', (request, _reply, _payload, done) => done(request.is404 ? notFound() : null));
  return app;
}

/** Has each route of GET answer HEAD too. The framework's own way makes a second route of it, which costs a start as much again. */
function answerHead(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.method === 'GET' && route.exposeHeadRoute !== false) route.method = ['GET', 'HEAD'];
  });
}

/** Whether a browser opens an address: it names HTML, which no client of the API does. */
const asksForPage = ({ method, headers }: FastifyRequest) =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '');

/** A client that goes past the proxy sends keys and passwords in the clear, and would go on doing so if it worked. */
const overPlainHttp = () => new OperationalError('forbidden', 'This service is reached over https alone.');

/** The fault of a request that is found before routing (RFC 9112, sections 3 and 5). */
function syntaxFault(
  rawHeaders: readonly string[],
  httpVersion: string,
  url: string,
  { expect, 'transfer-encoding': encoding = 'chunked' }: IncomingHttpHeaders,
): Error | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    // A line without a version is 0.9 to the parser, and it takes 2.0 in a form that no such version has.
    return new OperationalError('bad_request', 'The request is not well-formed HTTP.');
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
  // Another coding inside the chunks would be handed on as if it were none (RFC 9112, section 6.1).
  if (encoding.toLowerCase() !== 'chunked')
    return new OperationalError('bad_request', 'Transfer-Encoding must be chunked.');
  if (expect === 'unmet')
    return new OperationalError('bad_request', 'The Expect header asks for what this server does not do.');
  if (url.length > URL_MAXIMUM)
    return new OperationalError('uri_too_long', `The request target is longer than ${URL_MAXIMUM} bytes.`);
  return undefined;
}

/** The first look at a request, before its body is read: refuses plain HTTP, a connection that was used for too long, and wrong syntax. */
function admit(
  parts: ShellParts,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  const { log, https, plainHttp } = parts;
  const { id, raw, headers } = request;
  log.debug(
    { request_id: id, method: request.method, route: request.routeOptions.url ?? null },
    'request begun',
  );
  reply.header('x-request-id', id);
  if (plainHttp && !plainHttp.mayCome(raw.socket)) {
    if (!plainHttp.openRoutes.has(request.routeOptions.url ?? '')) {
      reply.header('connection', 'close');
      sendError(overPlainHttp(), request, reply, parts); // here, for no page's own handler must take it for its own
      return;
    }
  } else if (https) reply.header('strict-transport-security', STRICT_TRANSPORT);
  const count = (requestsOn.get(raw.socket) ?? 0) + 1;
  requestsOn.set(raw.socket, count);
  if (count >= LIMITS.requestsPerSocket) reply.raw.shouldKeepAlive = false; // whatever headers its answer comes to have
  if (count > LIMITS.requestsPerSocket) {
    done(new OperationalError('bad_request', 'The connection ends behind the request before.')); // never sent
    return;
  }
  const fault = syntaxFault(raw.rawHeaders, raw.httpVersion, raw.url!, headers);
  if (fault) {
    // Another reader of the same stream may have found its requests elsewhere: this was the last one.
    requestsOn.set(raw.socket, LIMITS.requestsPerSocket);
    reply.header('connection', 'close');
  }
  done(fault);
}

/** Interval at which unanswered requests are checked. */
const EACH_MS = 250;

interface Waiting {
  reply: FastifyReply;
  /** Monotonic milliseconds. */
  since: number;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** How long a request may wait for its answer, in milliseconds. */
    answerMs: number;
  }
  interface FastifyReply {
    /** Its index in the array of unanswered requests. */
    waitingAt: number;
    /** Milliseconds added to the limit of this request, such as those of `Prefer: wait`. */
    patienceMs: number;
  }
}

/*
 * Fastify's `handlerTimeout` (5.12) does not keep the promise. Its timer runs while the body still arrives, so a slow upload would be
 * answered 503 by it and not 408 by the server. It destroys a response that has begun, so a long download would be cut.
 */

/** Limits every request of `app`. A work that has begun still runs to its end: as with any 503, the client does not know the outcome. */
function limitHandlers(app: FastifyInstance, answerMs = LIMITS.answerMs): void {
  // An array instead of a Map: a Map's replaced hash tables kept answered requests alive until the next full collection (2.5 KB a request).
  const waiting: Waiting[] = [];
  const forget = (reply: FastifyReply) => {
    const at = reply.waitingAt;
    if (waiting[at]?.reply !== reply) return;
    const last = waiting.pop()!;
    if (last.reply === reply) return;
    waiting[at] = last;
    last.reply.waitingAt = at;
  };
  app.decorate('answerMs', answerMs);
  app.decorateReply('waitingAt', -1);
  app.decorateReply('patienceMs', 0);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.waitingAt = waiting.push({ reply, since: monotonicMs() }) - 1;
    done();
  });
  app.addHook('onResponse', (_request, reply, done) => {
    forget(reply);
    done();
  });
  const timer = setInterval(() => {
    const now = monotonicMs();
    for (const one of waiting.filter(({ since, reply }) => now - since >= answerMs + reply.patienceMs)) {
      const { reply } = one;
      const { complete, destroyed } = reply.request.raw;
      // Skip requests whose body is still arriving. The server's request timeout covers them.
      if (!complete && !destroyed) one.since = now;
      else {
        forget(reply);
        refuse(reply);
      }
    }
  }, EACH_MS).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
}

/** A response that has begun is not cut: a download may take longer. */
function refuse(reply: FastifyReply): void {
  if (reply.sent || reply.raw.headersSent || reply.raw.destroyed) return;
  reply.send(Object.assign(unavailable(), { cause: new HandlerTimeout() })); // in the error format of its surface
}

class HandlerTimeout extends Error {
  override readonly name = 'HandlerTimeout';
  readonly failure = `no answer within ${LIMITS.answerMs} ms`;
}
