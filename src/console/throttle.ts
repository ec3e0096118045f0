// How often forms that prove who somebody is are taken from one network or known browser. Kept in memory, by each node for itself.
import type { FastifyRequest } from 'fastify';
import { NetworkCounts } from '../http/network-counts.ts';
import { WindowCounts } from '../http/window-counts.ts';
import { type Clock, MINUTE_MS } from '../lib/time.ts';

const WINDOW_MS = 15 * MINUTE_MS;

/** Counts a form. Gives how long to wait, in milliseconds, where it is one too many; else 0. */
export type Throttle = (request: FastifyRequest) => Promise<number>;

/**
 * `maximum`: of one network, and of one browser that `deviceOf` knows; such a one is counted by itself, so that whoever shares its
 * network cannot keep it out.
 */
export function createThrottle(
  maximum: number,
  clock: Clock,
  deviceOf: (request: FastifyRequest) => Promise<string | undefined>,
): Throttle {
  const ofNetwork = new NetworkCounts(maximum, WINDOW_MS);
  const ofDevice = new WindowCounts(maximum, WINDOW_MS);
  return async (request) => {
    const device = await deviceOf(request);
    const now = clock.now();
    if (device !== undefined) return ofDevice.count(device, now);
    return ofNetwork.count(request.ip, now);
  };
}
