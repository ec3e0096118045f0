// Programs that register: what they are refused for before their body is read, and what their JSON comes to.
import type { FastifyInstance } from 'fastify';
import { OperationalError } from '../../lib/errors.ts';
import type { Clock } from '../../lib/time.ts';
import { type ApiEndpoint, endpoint, handlerOf, type Surface } from '../../web/endpoint.ts';
import { API_HEADERS } from '../../web/headers.ts';
import { readBytes, requireJson } from '../../web/json-body.ts';
import { ALWAYS } from '../../web/openapi.ts';
import { isBrowser, isForm } from '../../web/pages/form.ts';
import type { Handler } from '../../web/pages/surface.ts';
import { wholeSeconds } from '../../web/throttle.ts';
import { type RegistrationParts, registerMerchant } from '../register.ts';
import { lookedUpFaults, refuseIfClosed } from '../registration.ts';
import { presentRegistered, registrationAnswerSchema } from './present.ts';
import { parseRegistration, registrationRequestSchema } from './request.ts';
import type { RegistrationCounts } from './throttle.ts';

export interface RegistrationSite extends RegistrationParts {
  clock: Clock;
  /** Where the API is reached, without a slash at its end. */
  baseUrl: string;
}

export const REGISTRATION_SURFACE: Surface = { prefix: '', security: [], errors: ALWAYS, headers: {} };

/** Makes `scope` read what programs send beside forms. Returns what takes it. */
export function takePrograms(
  scope: FastifyInstance,
  parts: RegistrationSite,
  counts: RegistrationCounts,
): Handler {
  scope.addHook('onRequest', async (request) => {
    if (isForm(request.headers) && isBrowser(request.headers)) return;
    refuseIfClosed(parts.mode, parts.contact);
    refuseIfTooMany(counts, request.ip);
    requireJson(request);
  });
  readBytes(scope);
  const take = handlerOf(REGISTRATION_SURFACE, registrationEndpoint(parts, counts));
  return async (request, reply) => (await take(request, reply)) as string;
}

function refuseIfTooMany(counts: RegistrationCounts, ip: string): void {
  const waitMs = counts.waitMs(ip);
  if (waitMs === 0) return;
  const extra = { retryAfterS: wholeSeconds(waitMs), limit: 'registrations' } as const;
  throw new OperationalError('rate_limited', 'Too many registrations. Try again later.', extra);
}

/** The endpoint of programs. */
export const registrationEndpoint = (parts: RegistrationSite, counts: RegistrationCounts): ApiEndpoint =>
  endpoint('POST /register', {
    id: 'register',
    summary: 'Register as a merchant and get an API key',
    description:
      'Needs no key. Without an invitation the key makes test payments. The same address shows people a form. Without an invitation a business name that looks like that of another merchant or of a known brand is refused. An e-mail address that is known already changes nothing of the answer.',
    body: ['Registration', registrationRequestSchema],
    parse: (values, strict) => parseRegistration(values, { strict, mode: parts.mode }),
    prefers: true,
    answers: {
      201: {
        description: 'Registered. The key is told in this answer alone.',
        body: ['RegistrationAnswer', registrationAnswerSchema],
      },
    },
    errors: ['forbidden', 'rate_limited'],
    async handle({ request, reply, body }) {
      const { clock, directory, contact } = parts;
      refuseIfTooMany(counts, request.ip); // others may have come since the headers did
      const uncount = counts.count(request.ip);
      const act = { actor: 'anonymous', request_id: request.id };
      const registered = await registerMerchant(parts, body, act).catch((error) => {
        uncount({ lookedUp: lookedUpFaults(error, contact) !== undefined });
        throw error;
      });
      const { row } = registered;
      const known = directory.find(registered.key, clock.now());
      reply.code(201).headers(API_HEADERS);
      return JSON.stringify(presentRegistered(registered, known?.key.mode ?? row.mode));
    },
  });
