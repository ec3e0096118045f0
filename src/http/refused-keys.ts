// Keys and tokens that were refused, counted by where they came from: who sends many is told to wait, and learns nothing else.
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { OperationalError } from '../lib/errors.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import { network } from './network.ts';
import type { RateLimits } from './rate-limit.ts';

/** How many networks are remembered; beyond that, those that were refused longest ago are forgotten. */
const REMEMBERED = 20_000;

/** The refusals of each network within a minute that begins with the first of them. In memory; each node has its own. */
export class RefusalCounts {
  readonly #perMinute: number;
  readonly #minutes = new LRUCache<string, { began: number; count: number }>({ max: REMEMBERED });

  constructor({ refused_keys_per_minute, nodes }: RateLimits) {
    this.#perMinute = Math.max(1, Math.floor(refused_keys_per_minute / nodes));
  }

  /** Counts a refusal at `now`. Gives how long to wait, in milliseconds, where it is one too many; else 0. */
  count(ip: string, now: number): number {
    const from = network(ip);
    let minute = this.#minuteOf(from, now);
    if (!minute) {
      minute = { began: now, count: 0 };
      this.#minutes.set(from, minute);
    }
    minute.count++;
    return minute.count > this.#perMinute ? minute.began + MINUTE_MS - now : 0;
  }

  /** Whether the next refusal would be one too many. */
  isFull(ip: string, now: number): boolean {
    return (this.#minuteOf(network(ip), now)?.count ?? 0) >= this.#perMinute;
  }

  #minuteOf(from: string, now: number): { began: number; count: number } | undefined {
    const minute = this.#minutes.get(from);
    // A clock that was set back must not make anybody wait for longer than a minute.
    return minute && now >= minute.began && now < minute.began + MINUTE_MS ? minute : undefined;
  }
}

/** Gives the error that a request is answered with whose key or token is no good: `message` says why, where it is said at all. */
export interface Refuse {
  (request: FastifyRequest, message: string): OperationalError;
  /** Whether so many were refused to the address already that one more, unknown here, is not worth asking the store about. */
  isSpent(request: FastifyRequest): boolean;
}

/**
 * Returns what refuses keys and tokens: `unauthorized` with its message, and `rate_limited` in the same words for all where too many came
 * from the address; never the latter where `limits` is null, or to whoever sent no credentials at all. Only what was found wrong
 * comes here: a right key is taken from any address as soon as this node knows it, so that the misses of others who call from there do not lock it out.
 */
export function refuser(limits: RateLimits | null, clock: Clock): Refuse {
  const counts = limits && new RefusalCounts(limits);
  const refuse = (request: FastifyRequest, message: string) => {
    const waitMs =
      counts && request.headers.authorization !== undefined ? counts.count(request.ip, clock.now()) : 0;
    if (waitMs === 0) return new OperationalError('unauthorized', message);
    return new OperationalError('rate_limited', 'Too many wrong keys or tokens came from this address.', {
      retryAfterS: Math.ceil(waitMs / SECOND_MS),
    });
  };
  const isSpent = ({ ip }: FastifyRequest) => counts?.isFull(ip, clock.now()) ?? false;
  return Object.assign(refuse, { isSpent });
}
