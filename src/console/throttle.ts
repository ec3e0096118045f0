// How often forms that prove who somebody is are taken from one network or known browser. Kept in memory, by each node for itself.
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { network, site } from '../http/network.ts';
import { MINUTE_MS } from '../lib/time.ts';

const WINDOW_MS = 15 * MINUTE_MS;
/** How many addresses are remembered; beyond that, those seen longest ago are forgotten. */
const REMEMBERED = 20_000;

/** How many times as much a whole allocation of IPv6 may send as one network in it. */
const SITE_SHARE = 4;

/** Counts a form. Gives how long to wait, in milliseconds, where it is one too many; else 0. */
export type Throttle = (request: FastifyRequest) => Promise<number>;

/**
 * `maximum`: of one network, and of one browser that `deviceOf` knows; such a one is counted by itself, so that whoever shares its
 * network cannot keep it out.
 */
export async function createThrottle(
  app: FastifyInstance,
  maximum: number,
  deviceOf: (request: FastifyRequest) => Promise<string | undefined>,
): Promise<Throttle> {
  await app.register(rateLimit, { global: false, cache: REMEMBERED });
  const counter = (max: number, keyGenerator: (request: FastifyRequest) => string | Promise<string>) => {
    const options = { max, timeWindow: WINDOW_MS, keyGenerator };
    const count = app.createRateLimit(options);
    return async (request: FastifyRequest) => {
      const counted = await count(request);
      return !counted.isAllowed && counted.isExceeded ? counted.ttl : 0;
    };
  };
  const ofNetwork = counter(maximum, ({ ip }) => `sign-in ${network(ip)}`);
  const ofSite = counter(maximum * SITE_SHARE, ({ ip }) => `sign-in site ${site(ip)}`);
  const ofDevice = counter(maximum, async (request) => `sign-in device ${await deviceOf(request)}`);
  return async (request) => {
    if ((await deviceOf(request)) !== undefined) return ofDevice(request);
    return (await ofNetwork(request)) || ofSite(request);
  };
}
