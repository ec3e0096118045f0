// Who is calling: the Bearer key of a request under /v1 (RFC 6750), or 401.
import type { FastifyRequest } from 'fastify';
import { OperationalError } from '../lib/errors.ts';
import type { Clock } from '../lib/time.ts';
import type { Caller, Directory } from '../merchants/merchant.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

/** The longest credentials that are looked at. */
const CREDENTIALS_MAXIMUM = 136;

/** Returns a hook that sets `request.caller`. Raises `unauthorized`, in the same words whatever is wrong with the key. */
export function authenticator(directory: Directory, clock: Clock): (request: FastifyRequest) => void {
  return (request) => {
    const credentials = request.headers.authorization;
    if (
      credentials !== undefined &&
      credentials.length <= CREDENTIALS_MAXIMUM &&
      /^bearer +/i.test(credentials)
    ) {
      const caller = directory.find(credentials.slice(7).trim(), clock.now());
      if (caller) {
        request.caller = caller;
        return;
      }
    }
    throw new OperationalError('unauthorized', 'The API key is missing or invalid.');
  };
}
