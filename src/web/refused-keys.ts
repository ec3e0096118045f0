// Counts refused keys and tokens by network. A network that sends many is told to wait, and learns nothing else.
import type { FastifyRequest } from 'fastify';
import { OperationalError } from '../lib/errors.ts';
import { type Clock, MINUTE_MS } from '../lib/time.ts';
import type { RateLimits } from './rate-limit.ts';
import { fromNetwork, Throttle, wholeSeconds } from './throttle.ts';

/** Counts the refusals of each network within a minute, this node's part of the limit. */
export function refusalCounts({ refused_keys_per_minute, nodes }: RateLimits, clock: Clock): Throttle {
  const maximum = Math.max(1, Math.floor(refused_keys_per_minute / nodes));
  return new Throttle(clock, MINUTE_MS, fromNetwork(maximum));
}

/** Gives the error that a request is answered with whose key or token is no good: `message` says why, where it is said at all. */
export interface Refuse {
  (request: FastifyRequest, message: string): OperationalError;
  /** Whether so many were refused to the address already that one more, unknown here, is not worth asking the store about. */
  isSpent(request: FastifyRequest): boolean;
  /** Says that a request that was to be refused is let through after all: its refusal does not count. */
  takeBack(request: FastifyRequest): void;
}

/**
 * Returns the function that refuses keys and tokens: with `unauthorized` and its message, or with `rate_limited` in the same words for
 * all if too many came from the network. It is never `rate_limited` if `limits` is null, or for a request without credentials. Only wrong
 * keys are counted: a right key is taken from any address as soon as this node knows it, so wrong keys of others in its network do not
 * lock it out.
 */
export function refuser(limits: RateLimits | null, clock: Clock): Refuse {
  const counts = limits && refusalCounts(limits, clock);
  const refuse = (request: FastifyRequest, message: string) => {
    const waitMs = counts && request.headers.authorization !== undefined ? counts.count(request.ip) : 0;
    if (waitMs === 0) return new OperationalError('unauthorized', message);
    return new OperationalError('rate_limited', 'Too many wrong keys or tokens came from this address.', {
      retryAfterS: wholeSeconds(waitMs),
      limit: 'refused_keys',
    });
  };
  const isSpent = ({ ip }: FastifyRequest) => (counts?.waitMs(ip) ?? 0) > 0;
  const takeBack = ({ ip }: FastifyRequest) => counts?.takeBack(ip);
  return Object.assign(refuse, { isSpent, takeBack });
}
