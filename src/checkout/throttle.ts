// How often forms are taken: generous to customers, tiresome to programs. Kept in memory, by each node for itself.
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { network } from '../http/network.ts';
import { MINUTE_MS } from '../lib/time.ts';

const WINDOW_MS = 10 * MINUTE_MS;
/** How many payments and addresses are remembered; beyond that, those seen longest ago are forgotten. */
const REMEMBERED = 20_000;

export interface ThrottleLimits {
  perPayment: number;
  perAddress: number;
}

/** Counts a form. Each gives how long to wait, in milliseconds, where it is one too many; else 0. */
export interface Throttle {
  /** A form of ours, for the payment that its address names. */
  form(request: FastifyRequest): Promise<number>;
  /** A form that is not ours: it uses up nothing that a customer needs. */
  forged(request: FastifyRequest): Promise<number>;
}

export async function createThrottle(app: FastifyInstance, limits: ThrottleLimits): Promise<Throttle> {
  await app.register(rateLimit, { global: false });
  const limit = (max: number, keyGenerator: (request: FastifyRequest) => string) => {
    const options = { max, timeWindow: WINDOW_MS, cache: REMEMBERED, keyGenerator };
    const count = app.createRateLimit(options);
    return async (request: FastifyRequest) => {
      const counted = await count(request);
      return !counted.isAllowed && counted.isExceeded ? counted.ttl : 0;
    };
  };
  const perAddress = limit(limits.perAddress, ({ ip }) => `address ${network(ip)}`);
  const perPayment = limit(limits.perPayment, ({ query }) => {
    const { payment_id } = query as { payment_id: string };
    return `payment ${payment_id}`;
  });
  return {
    form: async (request) => (await perAddress(request)) || (await perPayment(request)),
    forged: limit(limits.perAddress, ({ ip }) => `forged ${network(ip)}`),
  };
}
