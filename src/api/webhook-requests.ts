// What a merchant may ask for about its webhook endpoints: schemas that check, explain and document it.
import { z } from 'zod';
import { EVENT_TYPES } from '../events/event.ts';
import { textFault } from '../lib/text.ts';
import { DAY_MS } from '../lib/time.ts';
import { type AddressRules, checkUrl, URL_CHARACTERS } from '../webhooks/addresses.ts';
import { DELIVERIES_KEPT_MS } from '../webhooks/delivery.ts';
import { RESENDS } from '../webhooks/resend.ts';

const DESCRIPTION_MAXIMUM = 255;
const ONE_TYPE = `Must be one of ${EVENT_TYPES.join(', ')}.`;
const OBJECT = 'Must be a JSON object.';

const faulted = (faultOf: (value: string) => string | undefined) =>
  z.string('Must be a string.').check(({ value, issues }) => {
    const fault = faultOf(value);
    if (fault) issues.push({ code: 'custom', message: fault, input: value });
  });

const types = z
  .array(z.enum(EVENT_TYPES, ONE_TYPE), 'Must be a list of event types.')
  .min(1, 'Must name at least one event type.')
  .max(EVENT_TYPES.length, 'Must name each event type once.')
  .nullish()
  .describe('The event types to send. `null`, or left out: all, also those that come later.');

const description = faulted((text) => textFault(text, DESCRIPTION_MAXIMUM))
  .meta({ maxLength: DESCRIPTION_MAXIMUM })
  .nullish()
  .describe('What the endpoint is for, in your words.');

const urlOf = (rules: AddressRules) =>
  faulted((url) => checkUrl(url, rules))
    .meta({ maxLength: URL_CHARACTERS })
    .describe(
      'Where events are sent: an https URL with a host name, on port 443 or one that the operator allows.',
    );

/** `POST /v1/webhook_endpoints`. */
export const endpointRequestSchema = (rules: AddressRules) =>
  z.object({ url: urlOf(rules), types, description }, OBJECT);

/** `PATCH /v1/webhook_endpoints/{id}`. What is left out stays. */
export const endpointChangeSchema = (rules: AddressRules) =>
  z.object(
    {
      url: urlOf(rules).optional(),
      types,
      description,
      status: z
        .enum(['enabled', 'disabled'], 'Must be enabled or disabled.')
        .optional()
        .describe('An endpoint that is enabled again gets what happened while it was disabled.'),
    },
    OBJECT,
  );

/** `POST /v1/webhook_endpoints/{id}/resend`. `now` in milliseconds since 1970. */
export const resendRequestSchema = (now: () => number) =>
  z.object(
    {
      what: z
        .enum(RESENDS, `Must be one of ${RESENDS.join(', ')}.`)
        .describe(
          '`failed`: deliveries whose last attempt failed. `missing`: events that were never queued for the endpoint.',
        ),
      since: z.iso
        .datetime({ offset: true, message: 'Must be an RFC 3339 time with an offset.' })
        .check(({ value, issues }) => {
          const at = Date.parse(value);
          const isWithin = at <= now() && at >= now() - DELIVERIES_KEPT_MS;
          const message = `Must be within the last ${DELIVERIES_KEPT_MS / DAY_MS} days.`;
          if (!isWithin) issues.push({ code: 'custom', message, input: value });
        })
        .describe('From when on: an RFC 3339 time within the last 30 days.'),
    },
    OBJECT,
  );
