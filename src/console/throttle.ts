// How often forms that prove who somebody is are taken from one network address. Kept in memory, by each node for itself.
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { network } from '../http/network.ts';
import { MINUTE_MS } from '../lib/time.ts';

const WINDOW_MS = 15 * MINUTE_MS;
/** How many addresses are remembered; beyond that, those seen longest ago are forgotten. */
const REMEMBERED = 20_000;

/** Counts a form. Gives how long to wait, in milliseconds, where it is one too many; else 0. */
export type Throttle = (request: FastifyRequest) => Promise<number>;

export async function createThrottle(app: FastifyInstance, maximum: number): Promise<Throttle> {
  await app.register(rateLimit, { global: false });
  const options = {
    max: maximum,
    timeWindow: WINDOW_MS,
    cache: REMEMBERED,
    keyGenerator: ({ ip }: FastifyRequest) => `sign-in ${network(ip)}`,
  };
  const count = app.createRateLimit(options);
  return async (request) => {
    const counted = await count(request);
    return !counted.isAllowed && counted.isExceeded ? counted.ttl : 0;
  };
}
