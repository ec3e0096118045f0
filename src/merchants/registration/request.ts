// What a program sends to register: one schema that checks, explains and documents it.
import { z } from 'zod';
import { type ErrorDetails, validationFailed } from '../../lib/errors.ts';
import { addSchemaFaults, optional, refuseCardFields, saysNothing } from '../../lib/faults.ts';
import {
  detailsOf,
  MAXIMA,
  type Registration,
  type RegistrationMode,
  registrationFaults,
} from '../registration.ts';

const text = (maximum: number) =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'Is required.' : 'Must be a string.') })
    .meta({ maxLength: maximum });

/** `POST /register`. */
export const registrationRequestSchema = z.object({
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
export function parseRegistration(
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
