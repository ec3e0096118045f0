// The settings of merchants and of their keys.
import { z } from 'zod';
import { isEmailAddress, textFault } from '../../lib/text.ts';
import { webAddressFault } from '../../lib/web-address.ts';
import { CUSTOMER_LETTERS, MERCHANT_LETTERS } from '../../mail/letter.ts';
import { keyNameFault } from '../../merchants/api-keys.ts';
import { isWholeKey } from '../../merchants/merchant.ts';
import { particularsShape } from '../../merchants/particulars.ts';
import { businessNameFault } from '../../merchants/registration.ts';
import { CONTACT_CHECK, CONTACT_FAULT, isContact, perSecond } from './parts.ts';
import { merchantWebhooksSchema } from './webhook-endpoints.ts';

export const keySchema = z
  .strictObject({
    key_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
      .optional()
      .describe('SHA-256 of the key in hexadecimal, as `counterfoil keys create` writes it.')
      .meta({ check: '64 lower-case hexadecimal digits' }),
    key: z
      .string()
      .refine(isWholeKey, 'must be a whole key as `counterfoil keys create` prints it')
      .optional()
      .describe('The key itself; in development only.')
      .meta({ check: 'a whole key, judged by its checksum' }),
    name: z
      .string()
      .superRefine((name, context) => {
        const fault = keyNameFault(name);
        if (fault) context.addIssue(fault);
      })
      .optional()
      .describe('What the key is for; shown to administrators and to its merchant.')
      .meta({ check: '1 to 80 characters, no control characters' }),
    mode: z
      .enum(['live', 'test'])
      .default('test')
      .describe('What the key creates: real payments or test payments.'),
    expires_at: z.iso
      .datetime({ offset: true, error: 'must be a moment with an offset, such as 2027-01-31T00:00:00+00:00' })
      .optional()
      .describe('When the key stops working; never when left out.')
      .meta({ check: 'ISO 8601 with an offset' }),
  })
  .refine(
    (one) => (one.key === undefined) !== (one.key_sha256 === undefined),
    'must have either key_sha256 or key, one of the two',
  );

/** What one merchant may do more or less of than all others. */
export const merchantLimitsSchema = z.strictObject({
  writes_per_second: perSecond('Requests other than GET and HEAD, in each mode.').optional(),
  reads_per_second: perSecond('GET and HEAD, in each mode.').optional(),
});

/** The address of a page that a merchant publishes. */
const pageSchema = z
  .string()
  .superRefine((url, context) => {
    const fault = webAddressFault(url, { httpsOnly: false });
    if (fault) context.addIssue(fault);
  })
  .optional()
  .meta({ check: 'http or https URL' });

export const merchantSchema = z.strictObject({
  id: z
    .string()
    .regex(/^mer_[0-9a-z_]{1,40}$/, 'must be mer_ and up to 40 of 0-9, a-z and _')
    .describe("The merchant's name in the store; never change it once it has payments.")
    .meta({ check: '`mer_` and up to 40 of 0-9, a-z and _; used once' }),
  name: z
    .string()
    .min(1)
    .superRefine((name, context) => {
      const fault = businessNameFault(name);
      if (fault) context.addIssue(fault);
    })
    .describe('Business name: what checkout shows.')
    .meta({ check: '1 to 120 characters that can be seen, a letter or a digit among them' }),
  keys: z.array(keySchema).default([]).describe('The keys that act for this merchant.'),
  website: pageSchema.describe("The merchant's site. Links back to another host name that host beside them."),
  support: z
    .string()
    .refine(isContact, CONTACT_FAULT)
    .optional()
    .describe('Where customers get help with a payment; shown at checkout.')
    .meta({ check: CONTACT_CHECK }),
  email: z
    .string()
    .refine((text) => isEmailAddress(text) && !textFault(text, 254), 'must be an e-mail address')
    .optional()
    .describe('Where letters to this merchant go; never shown to customers.')
    .meta({ check: 'e-mail address' }),
  ...particularsShape,
  letters_off: z
    .array(z.enum([...CUSTOMER_LETTERS, ...MERCHANT_LETTERS]))
    .optional()
    .describe(particularsShape.letters_off.description!)
    .meta({ check: 'names of letters' }),
  privacy_url: pageSchema.describe('What the merchant says about privacy; linked at checkout.'),
  terms_url: pageSchema.describe("The merchant's terms; linked at checkout."),
  colour: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'must be # and six hexadecimal digits')
    .optional()
    .describe(
      "The merchant's colour at checkout: of the stub, of links and of buttons. It is made darker or lighter where it could not be read.",
    )
    .meta({ check: '`#rrggbb`' }),
  try_out: z
    .boolean()
    .default(false)
    .describe(
      "Whether the checkout pages of this merchant's test payments have buttons that bring them to every state. In development all have them.",
    ),
  rate_limits: merchantLimitsSchema
    .optional()
    .describe('What this merchant may do more or less of than `rate_limits` says.'),
  webhooks: merchantWebhooksSchema.describe(
    'Webhook endpoints of this merchant, beside those that it makes by the API.',
  ),
  methods: z
    .array(z.string())
    .min(1)
    .optional()
    .describe("The ids of the ways to pay that this merchant's customers are offered; all when left out.")
    .meta({ check: 'ids below `methods`' }),
});
