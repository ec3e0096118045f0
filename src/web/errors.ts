// Every error there is, in the one shape: the service's own, the framework's, and those of the HTTP parser below it.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ErrorCode, OperationalError, STATUS_OF_CODE, unavailable } from '../lib/errors.ts';
import { randomId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { DatabaseError } from '../store/database.ts';
import { API_HEADERS } from './headers.ts';
import { note, noteFields } from './request-log.ts';

export const errorSchema = z.strictObject({
  error: z.strictObject({
    code: z
      .enum(Object.keys(STATUS_OF_CODE) as [ErrorCode, ...ErrorCode[]])
      .describe('Machine-readable code.'),
    message: z.string().describe('Human-readable text.'),
    details: z.record(z.string(), z.string()).optional().describe('Field name to message; with 422 alone.'),
  }),
});

/** Longer request targets are refused; the parser itself stops at 16 KiB of request line and headers. */
export const URL_MAXIMUM = 8192;
const OVERLONG_REQUEST_LINE = new RegExp(`^[A-Z]+ [^\\r\\n]{${URL_MAXIMUM}}`);

function errorBody(error: OperationalError): string {
  const { code, message, details } = error;
  return JSON.stringify({ error: details ? { code, message, details } : { code, message } });
}

/** The framework's own errors, as ours. */
const CODE_OF_FRAMEWORK_ERROR: Record<string, [ErrorCode, string]> = {
  FST_ERR_BAD_URL: ['bad_request', 'The request target is malformed.'],
  FST_ERR_NOT_FOUND: ['not_found', 'There is no such endpoint.'], // the parser knows a method (PRI) that the router does not
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The request body is larger than 64 KiB.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'The request body must be application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['bad_request', 'The request body is not as long as announced.'],
  FST_ERR_CTP_EMPTY_TYPE: ['unsupported_media_type', 'The request body must be application/json.'],
  ECONNRESET: ['bad_request', 'The request ended before its body did.'],
};

export function asOperationalError(error: unknown): OperationalError | undefined {
  if (error instanceof OperationalError) return error;
  if (error instanceof DatabaseError && error.failure === 'unavailable')
    return Object.assign(unavailable(), { cause: error });
  const known = CODE_OF_FRAMEWORK_ERROR[String((error as FastifyError).code)];
  return known && new OperationalError(...known);
}

/** A body that is too large by no more than this is still received, so that its sender gets the answer. */
const READ_THROUGH_BYTES = 1024 * 1024;

/** Logs and counts an unexpected error of ours, which a request of this id met. */
export type Defect = (error: unknown, requestId: string) => void;

/** Returns what logs a defect, and tells `count` of it. */
export function defectReporter(log: Logger, count: (() => void) | undefined): Defect {
  return (error, requestId) => {
    log.error({ request_id: requestId, defect: true, err: error }, 'a defect');
    count?.();
  };
}

/** Notes for its line in the log what a request was refused for. */
export function noteError(request: FastifyRequest, { code, details, limit }: OperationalError): void {
  note(request, { code, ...(limit && { limit }) });
  if (details) noteFields(request, details);
}

/** Answers with an error as JSON. A defect is logged and shown as `internal_error` without details. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, defect }: { log: Logger; defect: Defect },
): FastifyReply {
  let known = asOperationalError(error);
  if (!known) {
    defect(error, request.id);
    known = new OperationalError('internal_error', 'Something went wrong on our side.');
  } else if (known.code === 'unavailable') {
    log.warn({ request_id: request.id, err: known.cause ?? known }, 'unavailable');
  }
  noteError(request, known);
  reply.header('x-request-id', request.id); // what fails before the hooks run has none yet
  if (known.retryAfterS !== undefined) reply.header('retry-after', String(known.retryAfterS));
  if (known.code === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="api"');
  // The framework would close the connection while its client still sends, and so may not come to read the answer.
  if (known.code === 'payload_too_large' && Number(request.headers['content-length']) <= READ_THROUGH_BYTES)
    reply.removeHeader('connection');
  return reply.code(known.status).headers(API_HEADERS).send(errorBody(known));
}

export function notFound(): OperationalError {
  return new OperationalError('not_found', 'There is no such endpoint.');
}

/** Remembers every route, so that a known path with an unknown method can say which methods it has (RFC 9110, 15.5.6). */
export function collectMethods(app: FastifyInstance): (method: string, url: string) => string | undefined {
  const routes: { url: string; methods: string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => void routes.push({ url, methods: [method].flat() }));
  let patterns: { pattern: RegExp; methods: string[] }[] | undefined;
  return (method, url) => {
    patterns ??= routes.map(({ url, methods }) => ({ pattern: patternOf(url), methods }));
    const path = url.split('?', 1)[0]!;
    const methods = patterns.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []));
    return methods.length === 0 || methods.includes(method)
      ? undefined
      : [...new Set(methods)].sort().join(', ');
  };
}

/** The paths that a route's address stands for. */
function patternOf(url: string): RegExp {
  const escaped = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:\w+/g, '[^/]+').replace(/\\\*$/, '.*')}$`);
}

/** The answer that comes next on a socket, as Node keeps it. */
type Busy = Socket & { _httpMessage?: ServerResponse | null };

/** Time for a refused client to read its answer and hang up. Node's own timeouts no longer apply to it. */
const LINGER_MS = 1000;

/** Writes an error for a connection without a request of the framework, and closes it. */
function writeRawError(socket: Socket, error: OperationalError): void {
  if (socket.bytesWritten > 0 && (socket as Busy)._httpMessage?.headersSent) {
    socket.destroy();
    return;
  }
  if (socket.writable) {
    const body = errorBody(error);
    const headers = {
      ...API_HEADERS,
      'x-request-id': randomId('req_', 16),
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
  }
  socket.resume(); // closing with anything unread would reset the connection, and the answer might be lost
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
}

/** Sockets on which the parser has refused something: it takes nothing that comes behind. */
const refused = new WeakSet<Socket>();

/** What the HTTP parser refuses (Node's `clientError`): syntax and size; and slowness. */
export function onClientError(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket): void {
  if (error.code === 'ECONNRESET') socket.destroy();
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    if (isAnswering(socket)) socket.destroy();
    else
      writeRawError(socket, new OperationalError('request_timeout', 'The request did not arrive in time.'));
  } else if (!refused.has(socket)) {
    refused.add(socket);
    behindAnswers(socket, () => writeRawError(socket, refusalOf(error)));
  }
}

/** Whether a request that came whole has yet to be answered: an error in front of its answer would be taken for it. */
const isAnswering = (socket: Busy) => socket._httpMessage?.req.complete ?? false;

/**
 * Does `work` when requests that came whole are answered. Where their client does not read, what was refused ends it as the request
 * that never came whole, in time (`LIMITS.headersTimeoutMs`).
 */
function behindAnswers(socket: Busy, work: () => void): void {
  if (isAnswering(socket)) socket._httpMessage?.once('finish', () => behindAnswers(socket, work));
  else work();
}

function refusalOf(error: NodeJS.ErrnoException & { rawPacket?: Buffer }): OperationalError {
  if (error.code !== 'HPE_HEADER_OVERFLOW')
    return new OperationalError('bad_request', 'The request is not well-formed HTTP.');
  // What arrived last begins with a request line where that was too long, else it is from among the headers.
  return OVERLONG_REQUEST_LINE.test(error.rawPacket?.toString('latin1') ?? '')
    ? new OperationalError('uri_too_long', `The request target is longer than ${URL_MAXIMUM} bytes.`)
    : new OperationalError('headers_too_large', 'The request headers are larger than 16 KiB.');
}

/** A tunnel (CONNECT) is not a thing this server has. Node has let go of the socket, its errors and timeouts included. */
export function onConnect(socket: Socket): void {
  socket.on('error', () => {}); // without a listener, a client's reset would end the process
  // An answer still on its way comes first; this one would be taken for it.
  if (isAnswering(socket)) socket.destroy();
  else writeRawError(socket, notFound());
}
