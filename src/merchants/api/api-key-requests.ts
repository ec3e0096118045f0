// What a merchant may ask for about its API keys: schemas that check, explain and document it.
import { z } from 'zod';
import { optional, soundText } from '../../lib/faults.ts';
import { SECOND_MS } from '../../lib/time.ts';
import { KEY_NAME_MAXIMUM, keyNameFault, OVERLAPS_MS } from '../api-keys.ts';

const EXPIRES_IN = { minimum: 60, maximum: 315_360_000 }; // ten years
const OVERLAPS_S = Object.values(OVERLAPS_MS).map((ms) => ms / SECOND_MS);
const ONE_OVERLAP = `Must be one of ${OVERLAPS_S.join(', ')}.`;

const name = optional(soundText(KEY_NAME_MAXIMUM, keyNameFault, { trims: true })).describe(
  'What the key is for, in your words. The history keeps no copy of it.',
);

/** `POST /v1/api_keys`. */
export const apiKeyRequestSchema = z.object(
  {
    name,
    expires_in: optional(
      z
        .int('Must be a whole number.')
        .min(EXPIRES_IN.minimum, `Must be at least ${EXPIRES_IN.minimum}.`)
        .max(EXPIRES_IN.maximum, `Must be at most ${EXPIRES_IN.maximum}.`),
    ).describe(
      'Seconds until the key stops working, 60 to 315360000. Without it, it works until it is revoked.',
    ),
  },
  'Must be a JSON object.',
);

/** `POST /v1/api_keys/{id}/rotate`. */
export const rotationRequestSchema = z.object(
  {
    overlap_seconds: optional(z.literal(OVERLAPS_S, ONE_OVERLAP)).describe(
      'For how long the key that is replaced works on. Default: 86400, a day.',
    ),
    name,
  },
  'Must be a JSON object.',
);
