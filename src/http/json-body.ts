// Bodies that are JSON: announced as such, taken as the bytes that were sent, or refused before they are read.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OperationalError } from '../lib/errors.ts';

/**
 * Has every route of `scope` take JSON alone; what was sent is `request.body`, bytes or nothing. Its hook runs behind those
 * added before, so that who is asking is known by then. Raises `unsupported_media_type` in requests.
 */
export function takeJson(scope: FastifyInstance): void {
  scope.addHook('onRequest', async (request) => requireJson(request));
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** The bytes of a body that `takeJson` took. */
export function bodyOf(request: FastifyRequest): Buffer {
  return (request.body as Buffer | undefined) ?? Buffer.alloc(0);
}

/** Raises `unsupported_media_type` unless the body is announced as JSON in UTF-8 and not compressed. */
function requireJson(request: FastifyRequest): void {
  const type = request.headers['content-type'] ?? '';
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (
    !/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type) ||
    encoding.toLowerCase() !== 'identity'
  ) {
    throw new OperationalError('unsupported_media_type', 'The request body must be application/json.');
  }
}
