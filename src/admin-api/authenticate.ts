// Who is calling: the administrator token of a request under /admin (RFC 6750), looked up each time, or 401.
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { may, type Permission, type Principal } from '../administrators/administrator.ts';
import { findTokenPrincipal } from '../administrators/token.ts';
import type { Database } from '../database/database.ts';
import { bearerOf } from '../http/bearer.ts';
import { network } from '../http/network.ts';
import { OperationalError } from '../lib/errors.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../lib/time.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
  }
}

/** Wrong tokens that one address may send in a minute. */
const WRONG_TOKENS = 20;
/** How many addresses are remembered; beyond that, those seen longest ago are forgotten. */
const REMEMBERED = 20_000;

/**
 * Returns a hook that sets `request.principal`. Raises `unauthorized`, in the same words whatever is wrong with the token, and
 * `rate_limited` for wrong tokens beyond a few a minute. A right one is taken from any address: the misses of others who call
 * from there do not lock it out, and 256 random bits are not found by trying.
 */
export async function authenticator(
  app: FastifyInstance,
  database: Pick<Database, 'query'>,
  clock: Clock,
): Promise<(request: FastifyRequest) => Promise<void>> {
  await app.register(rateLimit, { global: false });
  const keyGenerator = ({ ip }: FastifyRequest) => network(ip);
  const options = { max: WRONG_TOKENS, timeWindow: MINUTE_MS, cache: REMEMBERED, keyGenerator };
  const countWrong = app.createRateLimit(options);
  return async (request) => {
    const token = bearerOf(request);
    const principal =
      token === undefined ? undefined : await findTokenPrincipal(database, token, clock.now());
    if (principal) {
      request.principal = principal;
      return;
    }
    if (request.headers.authorization !== undefined) {
      const counted = await countWrong(request);
      if (!counted.isAllowed && counted.isExceeded) {
        const retryAfterS = Math.ceil(counted.ttl / SECOND_MS);
        throw new OperationalError('rate_limited', 'Too many wrong tokens came from this address.', {
          retryAfterS,
        });
      }
    }
    throw new OperationalError('unauthorized', 'The administrator token is missing or invalid.');
  };
}

/** A hook that lets a request pass whose token may do this. Raises `forbidden`. */
export function permit(permission: Permission): (request: FastifyRequest) => Promise<void> {
  return async ({ principal }) => {
    if (!may(principal.role, permission))
      throw new OperationalError('forbidden', `The role ${principal.role} does not allow this.`);
  };
}
