// A merchant that has registered, as a program is answered, and the schema that promises so.
import { z } from 'zod';
import { formatTimestamp } from '../../lib/time.ts';
import type { Mode } from '../merchant.ts';
import type { Registered } from '../register.ts';

export const registrationAnswerSchema = z.strictObject({
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

/** The answer to a registration, with a key of `mode`. */
export function presentRegistered(
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
