// How often forms are taken: generous to customers, tiresome to programs. Kept in memory, by each node for itself.
import type { FastifyRequest } from 'fastify';
import { NetworkCounts } from '../http/network-counts.ts';
import { WindowCounts } from '../http/window-counts.ts';
import { type Clock, MINUTE_MS } from '../lib/time.ts';

const WINDOW_MS = 10 * MINUTE_MS;

export interface ThrottleLimits {
  perPayment: number;
  perAddress: number;
}

/** Counts a form. Each gives how long to wait, in milliseconds, where it is one too many; else 0. */
export interface Throttle {
  /** A form of ours, for the payment that its address names. */
  form(request: FastifyRequest): number;
  /** A form that is not ours: it uses up nothing that a customer needs. */
  forged(request: FastifyRequest): number;
}

export function createThrottle(limits: ThrottleLimits, clock: Clock): Throttle {
  const ofAddress = new NetworkCounts(limits.perAddress, WINDOW_MS);
  const ofPayment = new WindowCounts(limits.perPayment, WINDOW_MS);
  const forged = new NetworkCounts(limits.perAddress, WINDOW_MS);
  return {
    form({ ip, query }) {
      const { payment_id } = query as { payment_id: string };
      const now = clock.now();
      return ofAddress.count(ip, now) || ofPayment.count(payment_id, now);
    },
    forged: ({ ip }) => forged.count(ip, clock.now()),
  };
}
