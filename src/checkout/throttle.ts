// How often forms are taken: generous to customers, tiresome to programs. Kept in memory, by each node for itself.
import { isIPv6 } from 'node:net';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MINUTE_MS } from '../lib/time.ts';

const WINDOW_MS = 10 * MINUTE_MS;
/** How many payments and addresses are remembered; beyond that, those seen longest ago are forgotten. */
const REMEMBERED = 20_000;

export interface ThrottleLimits {
  perPayment: number;
  perAddress: number;
}

/** Counts a form for a payment. Returns how long to wait, in milliseconds, where it is one too many; else 0. */
export type Throttle = (request: FastifyRequest, payment: string) => Promise<number>;

export async function createThrottle(app: FastifyInstance, limits: ThrottleLimits): Promise<Throttle> {
  await app.register(rateLimit, { global: false, cache: REMEMBERED });
  const counted = new WeakMap<FastifyRequest, string>();
  const timeWindow = WINDOW_MS;
  const perPayment = app.createRateLimit({
    max: limits.perPayment,
    timeWindow,
    keyGenerator: (request) => `payment ${counted.get(request)}`,
  });
  const perAddress = app.createRateLimit({
    max: limits.perAddress,
    timeWindow,
    keyGenerator: ({ ip }) => `address ${network(ip)}`,
  });
  return async (request, payment) => {
    counted.set(request, payment);
    const counts = [await perAddress(request), await perPayment(request)];
    return Math.max(...counts.map((one) => (!one.isAllowed && one.isExceeded ? one.ttl : 0)));
  };
}

/** What stands for one caller: an IPv4 address, or the /64 network that an IPv6 subscriber has for themselves (RFC 6177). */
export function network(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('%')[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const behind = tail === '' ? 0 : tail.split(':').length;
    while (groups.length + behind < 8) groups.push('0');
    if (tail !== '') groups.push(...tail.split(':'));
  }
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
