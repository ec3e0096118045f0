// Who is calling: the Bearer key of a request under /v1 (RFC 6750), or 401.
import type { FastifyRequest } from 'fastify';
import { bearerOf } from '../http/bearer.ts';
import { OperationalError } from '../lib/errors.ts';
import type { Clock } from '../lib/time.ts';
import type { Caller, Directory } from '../merchants/merchant.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

/**
 * Returns a hook that sets `request.caller`. Raises `unauthorized`, in the same words whatever is wrong with the key, and
 * `forbidden` where its merchant is suspended.
 */
export function authenticator(directory: Directory, clock: Clock): (request: FastifyRequest) => void {
  return (request) => {
    const key = bearerOf(request);
    const caller = key === undefined ? undefined : directory.find(key, clock.now());
    if (!caller) throw new OperationalError('unauthorized', 'The API key is missing or invalid.');
    request.caller = caller;
    if (directory.isSuspended(caller.merchant.id))
      throw new OperationalError('forbidden', 'This merchant is suspended. Ask whoever runs this service.');
  };
}
