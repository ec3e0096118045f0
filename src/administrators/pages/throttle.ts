// Limits forms with credentials, by network and by known browser.
import type { FastifyRequest } from 'fastify';
import { type Clock, MINUTE_MS } from '../../lib/time.ts';
import { fromNetwork, Throttle } from '../../web/throttle.ts';

const WINDOW_MS = 15 * MINUTE_MS;

/**
 * `maximum`: of one network, and of one browser that `deviceOf` knows. A known browser is counted by itself, so that others in its
 * network cannot keep it out. The function returned counts a form, and gives how long to wait, in milliseconds, if it is one too
 * many; else 0.
 */
export function createThrottle(
  maximum: number,
  clock: Clock,
  deviceOf: (request: FastifyRequest) => Promise<string | undefined>,
): (request: FastifyRequest) => Promise<number> {
  const ofNetwork = new Throttle(clock, WINDOW_MS, fromNetwork(maximum));
  const ofDevice = new Throttle<string>(clock, WINDOW_MS, [{ nameOf: (device) => device, maximum }]);
  return async (request) => {
    const device = await deviceOf(request);
    return device === undefined ? ofNetwork.count(request.ip) : ofDevice.count(device);
  };
}
