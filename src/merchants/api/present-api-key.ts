// An API key as the API shows it, and the schemas that promise so.
import { z } from 'zod';
import { timestampOrNull } from '../../lib/time.ts';
import { listSchema } from '../../web/list.ts';
import { KEY_PREFIX } from '../merchant.ts';
import { type KnownKey, keyStatus } from '../stored-key.ts';

const moment = z.string().describe('ISO 8601 with a numeric UTC offset.').nullable();

const apiKeySchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^key_[0-9a-f]{16}$/)
      .describe('Identifier of the key; no secret.'),
    object: z.literal('api_key'),
    livemode: z.boolean().describe('Whether payments made with it are real.'),
    name: z.string().nullable().describe('What it is for, in its maker’s words.'),
    prefix: z.enum([KEY_PREFIX.test, KEY_PREFIX.live]).describe('What the key begins with.'),
    last_four: z
      .string()
      .nullable()
      .describe("The key's last four characters; null for one that the configuration file holds."),
    created_at: moment.describe('Null for a key that the configuration file holds.'),
    last_used_at: moment.describe('To the minute, up to a minute late; null while it was not used yet.'),
    expires_at: moment.describe('When it stops working; null where it goes on until it is revoked.'),
    revoked_at: moment,
    replaced_by: z.string().nullable().describe('The id of the key that was made in its place.'),
    created_by: z
      .string()
      .nullable()
      .describe(
        'The id of the key it was made with; `operator` or `administrator` for one that was made for the merchant; null for its first and for one of the configuration file.',
      ),
    status: z
      .enum(['active', 'expired', 'revoked'])
      .describe('A key that is replaced is `active` until it ends.'),
  })
  .meta({ id: 'ApiKey' });

const secret = z.string().describe('The key itself. It is told in this answer alone, and kept nowhere.');

export const apiKeyAnswerSchema = z.strictObject({ data: apiKeySchema });
export const newApiKeyAnswerSchema = z.strictObject({
  data: apiKeySchema.extend({ key: secret }).meta({ id: 'NewApiKey' }),
});
export const rotatedApiKeyAnswerSchema = newApiKeyAnswerSchema.extend({
  replaced: apiKeySchema.describe('The key that the new one takes the place of, with the moment it ends.'),
});
export const revokedApiKeyAnswerSchema = apiKeyAnswerSchema.extend({
  keys_made: z
    .array(z.string())
    .describe(
      'The ids of the keys that were made with it, or with one of those, and still work. After a leak, revoke each that you did not make.',
    ),
});
export const apiKeyListSchema = listSchema(apiKeySchema);

/** A key as the API shows it at `now`; `lastUsed` in milliseconds since 1970, undefined where it never was. */
export function presentApiKey(
  key: KnownKey,
  lastUsed: number | undefined,
  now: number,
): z.infer<typeof apiKeySchema> {
  const { id, mode, name, last_four, created_at, expires_at, revoked_at, replaced_by, made_by } = key;
  return {
    id,
    object: 'api_key',
    livemode: mode === 'live',
    name,
    prefix: KEY_PREFIX[mode],
    last_four,
    created_at: timestampOrNull(created_at),
    last_used_at: timestampOrNull(lastUsed === undefined ? null : Math.min(lastUsed, now)),
    expires_at: timestampOrNull(expires_at),
    revoked_at: timestampOrNull(revoked_at),
    replaced_by,
    created_by: made_by,
    status: keyStatus(key, now),
  };
}
