// Bodies that are JSON: announced as such, taken as the bytes that were sent, or refused before they are read.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OperationalError, validationFailed } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';

/**
 * Lets every route of `scope` take JSON only; the body is `request.body`, bytes or undefined. Its hook runs behind those added before, so
 * that the caller is authenticated by then. With `mayBeMissing` a request without a body needs no content type. Throws
 * `unsupported_media_type` in requests.
 */
export function takeJson(scope: FastifyInstance, { mayBeMissing = false } = {}): void {
  scope.addHook('onRequest', async (request) => {
    if (!(mayBeMissing && sendsNothing(request))) requireJson(request);
  });
  readBytes(scope);
}

/** Has the routes of `scope` read a body of any type, but for those that another parser reads, as the bytes it is. */
export function readBytes(scope: FastifyInstance): void {
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** Has the routes of `scope` ignore a body, whatever it is and calls itself: it is not even read. */
export function ignoreBody(scope: FastifyInstance): void {
  scope.addHook('onRequest', async (request) => void delete request.headers['content-type']);
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/** The bytes of a body that `takeJson` or `readBytes` took. */
export function bodyOf(request: FastifyRequest): Buffer {
  return (request.body as Buffer | undefined) ?? Buffer.alloc(0);
}

/** Reads a JSON object out of a body's bytes. Throws `invalid_json`, and `validation_failed` where it is something else. */
export function objectIn(bytes: Uint8Array): Record<string, unknown> {
  const body = parseJson(bytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw validationFailed({ body: 'Must be a JSON object.' });
  return body as Record<string, unknown>;
}

/** Whether a request has no body, and says nothing of one (RFC 9112, section 6.3). */
function sendsNothing({ headers }: FastifyRequest): boolean {
  return (
    headers['content-type'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length'] ?? 0) === 0
  );
}

/** Throws `unsupported_media_type` unless the body is announced as JSON in UTF-8 and not compressed. */
export function requireJson(request: FastifyRequest): void {
  const type = request.headers['content-type'] ?? '';
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (
    !/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type) ||
    encoding.toLowerCase() !== 'identity'
  ) {
    throw new OperationalError('unsupported_media_type', 'The request body must be application/json.');
  }
}
