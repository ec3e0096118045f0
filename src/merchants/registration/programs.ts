// Programs that register: what they are refused for before their body is read, and what their JSON comes to.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OperationalError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json.ts';
import type { Clock } from '../../lib/time.ts';
import { API_HEADERS, prefersStrictHandling, STRICT_APPLIED } from '../../web/headers.ts';
import { bodyOf, readBytes, requireJson } from '../../web/json-body.ts';
import { isBrowser, isForm } from '../../web/pages/form.ts';
import { wholeSeconds } from '../../web/throttle.ts';
import { type RegistrationParts, registerMerchant } from '../register.ts';
import { lookedUpFaults, refuseIfClosed } from '../registration.ts';
import { presentRegistered } from './present.ts';
import { parseRegistration } from './request.ts';
import type { RegistrationCounts } from './throttle.ts';

export interface RegistrationSite extends RegistrationParts {
  clock: Clock;
  /** Where the API is reached, without a slash at its end. */
  baseUrl: string;
}

/** Makes `scope` read what programs send beside forms. Returns what takes it. */
export function takePrograms(
  scope: FastifyInstance,
  parts: RegistrationSite,
  counts: RegistrationCounts,
): (request: FastifyRequest, reply: FastifyReply) => Promise<string> {
  const { clock, directory, mode, contact } = parts;

  function refuseWhereTooMany(ip: string) {
    const waitMs = counts.waitMs(ip);
    if (waitMs === 0) return;
    const extra = { retryAfterS: wholeSeconds(waitMs), limit: 'registrations' } as const;
    throw new OperationalError('rate_limited', 'Too many registrations. Try again later.', extra);
  }

  scope.addHook('onRequest', async (request) => {
    if (isForm(request.headers) && isBrowser(request.headers)) return;
    refuseIfClosed(mode, contact);
    refuseWhereTooMany(request.ip);
    requireJson(request);
  });
  readBytes(scope);
  return async (request, reply) => {
    const strict = prefersStrictHandling(request.headers);
    const wanted = parseRegistration(parseJson(bodyOf(request)), { strict, mode });
    refuseWhereTooMany(request.ip); // others may have come since the headers did
    const uncount = counts.count(request.ip);
    const act = { actor: 'anonymous', request_id: request.id };
    const registered = await registerMerchant(parts, wanted, act).catch((error) => {
      uncount({ lookedUp: lookedUpFaults(error, contact) !== undefined });
      throw error;
    });
    const { row } = registered;
    const known = directory.find(registered.key, clock.now());
    if (strict) reply.headers(STRICT_APPLIED);
    reply.code(201).headers(API_HEADERS);
    return JSON.stringify(presentRegistered(registered, known?.key.mode ?? row.mode));
  };
}
