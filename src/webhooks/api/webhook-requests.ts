// What a merchant may ask for about its webhook endpoints: schemas that check, explain and document it.
import { z } from 'zod';
import { optional, soundText } from '../../lib/faults.ts';
import { textFault } from '../../lib/text.ts';
import { EVENT_TYPES } from '../../payments/events/event.ts';
import { type AddressRules, checkUrl, URL_CHARACTERS } from '../addresses.ts';

const DESCRIPTION_MAXIMUM = 255;
const ONE_TYPE = `Must be one of ${EVENT_TYPES.join(', ')}.`;
const OBJECT = 'Must be a JSON object.';

const types = optional(
  z
    .array(z.enum(EVENT_TYPES, ONE_TYPE), 'Must be a list of event types.')
    .min(1, 'Must name at least one event type.')
    .max(EVENT_TYPES.length, 'Must name each event type once.'),
).describe('The event types to send. `null`, or left out: all, also those that come later.');

const description = optional(
  soundText(DESCRIPTION_MAXIMUM, (text) => textFault(text, DESCRIPTION_MAXIMUM)),
).describe('What the endpoint is for, in your words.');

const urlOf = (rules: AddressRules) =>
  soundText(URL_CHARACTERS, (url) => checkUrl(url, rules)).describe(
    'Where events are sent: an https URL with a host name, on port 443 or one that the operator allows.',
  );

/** `POST /v1/webhook_endpoints`. */
export const endpointRequestSchema = (rules: AddressRules) =>
  z.object({ url: urlOf(rules), types, description }, OBJECT);

/** `PATCH /v1/webhook_endpoints/{id}`. What is left out stays. */
export const endpointChangeSchema = (rules: AddressRules) =>
  z.object(
    {
      url: optional(urlOf(rules)),
      types,
      description,
      status: optional(z.enum(['enabled', 'disabled'], 'Must be enabled or disabled.')).describe(
        'An endpoint that is enabled again gets what happened while it was disabled.',
      ),
    },
    OBJECT,
  );
