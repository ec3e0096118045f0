// Programs that register: what they are refused for before their body is read, and what their JSON comes to.

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type ErrorDetails, OperationalError, validationFailed } from '../../lib/errors.ts';
import { addSchemaFaults, optional, refuseCardFields, saysNothing } from '../../lib/faults.ts';
import { type Clock, formatTimestamp } from '../../lib/time.ts';
import { type ApiEndpoint, endpoint, handlerOf, type Surface } from '../../web/endpoint.ts';
import { API_HEADERS } from '../../web/headers.ts';
import { readBytes, requireJson } from '../../web/json-body.ts';
import { ALWAYS } from '../../web/openapi.ts';
import { isBrowser, isForm } from '../../web/pages/form.ts';
import type { Handler } from '../../web/pages/route.ts';
import { wholeSeconds } from '../../web/rate-limit.ts';
import type { Mode } from '../merchant.ts';
import { type Registered, type RegistrationParts, registerMerchant } from '../register.ts';
import {
  detailsOf,
  MAXIMA,
  type Registration,
  type RegistrationMode,
  refuseIfClosed,
  registrationFaults,
} from '../registration.ts';
import type { RegistrationCounts } from './form.ts';

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
      'Needs no key. Without an invitation the key makes test payments. The same address shows people a form. Without an invitation a business name that looks like that of another merchant is refused. An e-mail address that is known already changes nothing of the answer.',
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
      const { clock, directory } = parts;
      refuseIfTooMany(counts, request.ip); // others may have come since the headers did
      const act = { actor: 'anonymous', request_id: request.id };
      const registered = await counts.counted(request.ip, () => registerMerchant(parts, body, act));
      const known = directory.find(registered.key, clock.now());
      reply.code(201).headers(API_HEADERS);
      return JSON.stringify(presentRegistered(registered, known?.key.mode ?? registered.row.mode));
    },
  });

const text = (maximum: number) =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'Is required.' : 'Must be a string.') })
    .meta({ maxLength: maximum });

/** `POST /register`. */
const registrationRequestSchema = z.object({
  business_name: text(MAXIMA.business_name).describe(
    'What customers see where they pay. Kept without the spaces around it.',
  ),
  email: text(MAXIMA.email).describe('Whom the operator writes to. Customers do not see it.'),
  website: optional(text(MAXIMA.website)).describe("The merchant's site: an absolute http or https URL."),
  invite: optional(text(MAXIMA.invite)).describe('The code of an invitation, where one is needed.'),
});
const strictSchema = registrationRequestSchema.strict();

/**
 * Checks a parsed body. `strict` refuses fields it does not know (`Prefer: handling=strict`, RFC 7240). Throws `validation_failed` with
 * every fault.
 */
function parseRegistration(
  body: Record<string, unknown>,
  rule: { strict: boolean; mode: RegistrationMode },
): Registration {
  const faults: ErrorDetails = Object.create(null); // names come from outside: none may be inherited
  const parsed = (rule.strict ? strictSchema : registrationRequestSchema).safeParse(body);
  addSchemaFaults(faults, parsed.error);
  const wanted = wantedIn(body);
  for (const [field, message] of Object.entries(detailsOf(registrationFaults(wanted, rule.mode))))
    faults[field] ??= message;
  refuseCardFields(body, faults);
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
  return wanted;
}

/** The fields that are text. The others are reported as faults already. */
function wantedIn({ business_name, email, website, invite }: Record<string, unknown>): Registration {
  const textOf = (value: unknown) => (typeof value === 'string' && !saysNothing(value) ? value : null);
  return {
    business_name: textOf(business_name) ?? '',
    email: textOf(email)?.trim() ?? '',
    website: textOf(website),
    invite: textOf(invite),
  };
}

const registrationAnswerSchema = z.strictObject({
  data: z.strictObject({
    merchant: z
      .strictObject({
        id: z.string().describe('`mer_…`.'),
        object: z.literal('merchant'),
        business_name: z.string().describe('What customers see where they pay.'),
        email: z.string(),
        website: z.string().nullable(),
        created_at: z.string().describe('ISO 8601 with a numeric UTC offset.'),
      })
      .meta({ id: 'Merchant' }),
    api_key: z.string().describe('The key itself. It is told here and nowhere else.'),
    api_key_id: z.string().describe('`key_…`: what the key is called.'),
    livemode: z.boolean().describe('Whether the key makes real payments.'),
  }),
});

function presentRegistered(
  { key, row, merchant }: Registered,
  mode: Mode,
): z.infer<typeof registrationAnswerSchema> {
  return {
    data: {
      merchant: {
        id: merchant.id,
        object: 'merchant',
        business_name: merchant.name!,
        email: merchant.email!,
        website: merchant.website,
        created_at: formatTimestamp(merchant.created_at!),
      },
      api_key: key,
      api_key_id: row.id,
      livemode: mode === 'live',
    },
  };
}
