// Limits of requests: token buckets of a merchant, windows by name, and refused keys by network.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { OperationalError } from '../lib/errors.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import { network, site } from './network.ts';

/** What all nodes together take. */
export interface RateLimits {
  /** Of one merchant in one mode, with whichever of its keys. */
  writes_per_second: number;
  /** The same. */
  reads_per_second: number;
  /** Of one network address. */
  refused_keys_per_minute: number;
  /** Number of nodes that share the limit. */
  nodes: number;
}

type Policy = 'read' | 'write';

/** A bucket holds the requests of this many seconds: so many may come at once. */
const BURST_S = 2;
/** Maximum number of merchants with buckets, in each mode. The least recently used are dropped and begin full. */
const REMEMBERED = 20_000;

/**
 * One node's token bucket of one merchant: full at first, and refilled continuously. Its content is counted in whole numbers
 * (milliseconds × requests a second), so that rounding loses nothing: a client that waits for `Retry-After` is served.
 */
export class TokenBucket {
  /** Capacity in requests. */
  readonly capacity: number;
  /** `RateLimit-Policy`: how many requests it takes in how many seconds. */
  readonly policyField: string;
  /** Requests of all nodes together. */
  readonly perSecond: number;
  readonly policy: Policy;
  readonly #costOfOne: number;
  #held: number;
  #at: number;

  /** `perSecond` is what all `nodes` together take; `now` in milliseconds. */
  constructor(policy: Policy, perSecond: number, nodes: number, now: number) {
    this.perSecond = perSecond;
    this.capacity = Math.max(1, Math.floor((BURST_S * perSecond) / nodes));
    const windowS = Math.ceil((this.capacity * nodes) / perSecond);
    this.policyField = `"${policy}";q=${this.capacity};w=${windowS}`;
    this.policy = policy;
    this.#costOfOne = SECOND_MS * nodes;
    this.#held = this.capacity * this.#costOfOne;
    this.#at = now;
  }

  /** Takes one request out; gives whether there was one. `now` in milliseconds; one before the last refills nothing. */
  take(now: number): boolean {
    const refilled = this.#held + Math.max(0, now - this.#at) * this.perSecond;
    this.#held = Math.min(refilled, this.capacity * this.#costOfOne);
    this.#at = now;
    if (this.#held < this.#costOfOne) return false;
    this.#held -= this.#costOfOne;
    return true;
  }

  /** `RateLimit`: the whole requests left, and in how many seconds there will be one more. */
  get limitField(): string {
    return `"${this.policy}";r=${Math.floor(this.#held / this.#costOfOne)};t=${this.nextS}`;
  }

  /** Whole seconds after which it holds one request more. */
  get nextS(): number {
    const missing = this.#costOfOne - (this.#held % this.#costOfOne);
    return Math.ceil(missing / (this.perSecond * SECOND_MS));
  }
}

interface Limited {
  merchant: { id: string };
  key: { mode: 'live' | 'test' };
  /** Stand over those of all merchants. */
  limits: { [limit in keyof RateLimits]?: RateLimits[limit] | undefined };
}

/**
 * The buckets of all merchants that called of late, one for each mode: who makes more keys may not call more often. In memory, so that
 * counting waits for nothing; each node has its own.
 */
export class CallerBuckets {
  readonly #limits: RateLimits;
  /** Each is made with its first bucket, because an LRU cache allocates all its room at once. */
  readonly #buckets: { [policy in Policy]?: LRUCache<string, TokenBucket> } = {};

  constructor(limits: RateLimits) {
    this.#limits = limits;
  }

  /**
   * The bucket that a caller's request with `method` is taken from. A merchant's own limits stand over those of all; a bucket begins
   * anew where they were changed.
   */
  find({ merchant, key, limits: own }: Limited, method: string, now: number): TokenBucket {
    const policy = method === 'GET' || method === 'HEAD' ? 'read' : 'write';
    const name = `${key.mode} ${merchant.id}`;
    const perSecond = own[`${policy}s_per_second`] ?? this.#limits[`${policy}s_per_second`];
    this.#buckets[policy] ??= new LRUCache({ max: REMEMBERED });
    const buckets = this.#buckets[policy];
    let bucket = buckets.get(name);
    if (!bucket || bucket.perSecond !== perSecond) {
      bucket = new TokenBucket(policy, perSecond, this.#limits.nodes, now);
      buckets.set(name, bucket);
    }
    return bucket;
  }
}

/**
 * Takes a request out of its bucket and tells the client where it stands (draft-ietf-httpapi-ratelimit-headers-10, sections 3
 * and 4). Gives the error `rate_limited` where the bucket is empty, to be answered not earlier than the fields say.
 */
export function takeFrom(
  bucket: TokenBucket,
  reply: FastifyReply,
  now: number,
): OperationalError | undefined {
  const taken = bucket.take(now);
  reply.header('ratelimit-policy', bucket.policyField);
  reply.header('ratelimit', bucket.limitField);
  if (taken) return undefined;
  return new OperationalError('rate_limited', 'Too many requests came from this merchant.', {
    retryAfterS: bucket.nextS,
    limit: bucket.policy === 'read' ? 'reads' : 'writes',
  });
}

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

/** Factor by which a whole IPv6 allocation (/48) may do more than one network (/64) in it. */
const SITE_SHARE = 4;

/** `maximum` in a window, of each name that `nameOf` gives a subject. One to which it gives none is not counted. */
interface LimitOf<Subject> {
  nameOf(subject: Subject): string | undefined;
  maximum: number;
  /** Length of the window, if it is not that of the throttle. */
  windowMs?: number;
}

interface Window {
  began: number;
  count: number;
}

/** The limits of an IP address: `maximum` from its network, and `SITE_SHARE` times as many from the IPv6 allocation around it. */
export function fromNetwork(maximum: number): LimitOf<string>[] {
  return [
    { nameOf: network, maximum },
    { nameOf: site, maximum: maximum * SITE_SHARE },
  ];
}

/** The value of Retry-After for a wait in milliseconds. */
export const wholeSeconds = (waitMs: number): number => Math.ceil(waitMs / SECOND_MS);

/** Counts in windows that begin with the first of each name. The counts are in memory, and each node has its own. */
export class Throttle<Subject = string> {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #limits: readonly LimitOf<Subject>[];
  /** Made with the first count, because an LRU cache allocates all its room at once. */
  #windows: LRUCache<string, Window> | undefined;

  /** `limits` are counted in their order. */
  constructor(clock: Clock, windowMs: number, limits: readonly LimitOf<Subject>[]) {
    this.#clock = clock;
    this.#windowMs = windowMs;
    this.#limits = limits;
  }

  /**
   * Counts one. Returns how long to wait, in milliseconds, if it is one too many; else 0. What exceeds one limit does not count for the
   * next, so that one network cannot use up what its whole allocation may do.
   */
  count(subject: Subject): number {
    const now = this.#clock.now();
    for (const { name, maximum, windowMs } of this.#named(subject)) {
      let window = this.#current(name, windowMs, now);
      if (!window) {
        window = { began: now, count: 0 };
        this.#windows ??= new LRUCache({ max: REMEMBERED * this.#limits.length });
        this.#windows.set(name, window);
      }
      window.count++;
      if (window.count > maximum) return window.began + windowMs - now;
    }
    return 0;
  }

  /** Takes one back that `count` counted. */
  takeBack(subject: Subject): void {
    const now = this.#clock.now();
    for (const { name, maximum, windowMs } of this.#named(subject)) {
      const window = this.#current(name, windowMs, now);
      if (window) window.count--;
      if (window && window.count >= maximum) return; // it exceeded this limit, and was not counted for the next
    }
  }

  /** Returns how long to wait until the next is not one too many, in milliseconds; 0 if it may come now. Counts nothing. */
  waitMs(subject: Subject): number {
    const now = this.#clock.now();
    const waits = this.#named(subject).map(({ name, maximum, windowMs }) => {
      const window = this.#current(name, windowMs, now);
      return window && window.count >= maximum ? window.began + windowMs - now : 0;
    });
    return Math.max(...waits);
  }

  /** The limits that count for a subject, with its name in each. */
  #named(subject: Subject): { name: string; maximum: number; windowMs: number }[] {
    return this.#limits.flatMap(({ nameOf, maximum, windowMs = this.#windowMs }, i) => {
      const name = nameOf(subject);
      return name === undefined ? [] : [{ name: `${i} ${name}`, maximum, windowMs }];
    });
  }

  #current(name: string, windowMs: number, now: number): Window | undefined {
    const window = this.#windows?.get(name);
    return window && now < window.began + windowMs ? window : undefined;
  }
}
