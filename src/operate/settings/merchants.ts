// The settings of merchants, of their keys and webhook endpoints, and of where webhooks may be sent.
import { z } from 'zod';
import { givenText, setting, wholeNumber, without } from '../../lib/setting.ts';
import { isEmailAddress, textFault } from '../../lib/text.ts';
import { webAddressFault } from '../../lib/web-address.ts';
import { CUSTOMER_LETTERS, MERCHANT_LETTERS } from '../../mail/letter.ts';
import { keyNameFault } from '../../merchants/api-keys.ts';
import { isWholeKey } from '../../merchants/merchant.ts';
import { particularsShape } from '../../merchants/particulars.ts';
import { businessNameFault } from '../../merchants/registration.ts';
import { EVENT_TYPES } from '../../payments/events/event.ts';
import { type AddressRules, checkUrl, DEVELOPMENT_RULES } from '../../webhooks/addresses.ts';
import type { ConfiguredEndpoint } from '../../webhooks/change.ts';
import { ENDPOINTS_MAXIMUM } from '../../webhooks/endpoint.ts';
import { CONTACT_CHECK, contact, type webhooksSchema } from './operation.ts';

const keySchema = z
  .strictObject({
    key_sha256: setting(
      z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
        .optional(),
      'SHA-256 of the key in hexadecimal, as `counterfoil keys create` writes it.',
      '64 lower-case hexadecimal digits',
    ),
    key: setting(
      z.string().refine(isWholeKey, 'must be a whole key as `counterfoil keys create` prints it').optional(),
      'The key itself; in development only.',
      'a whole key, judged by its checksum',
    ),
    name: setting(
      z.string().superRefine(without(keyNameFault)).optional(),
      'What the key is for; shown to administrators and to its merchant.',
      '1 to 80 characters, no control characters',
    ),
    mode: setting(
      z.enum(['live', 'test']).default('test'),
      'What the key creates: real payments or test payments.',
    ),
    expires_at: setting(
      z.iso
        .datetime({
          offset: true,
          error: 'must be a moment with an offset, such as 2027-01-31T00:00:00+00:00',
        })
        .optional(),
      'When the key stops working; never when left out.',
      'ISO 8601 with an offset',
    ),
  })
  .refine(
    (one) => (one.key === undefined) !== (one.key_sha256 === undefined),
    'must have either key_sha256 or key, one of the two',
  );

/** What one merchant may do more or less of than all others. */
const merchantLimitsSchema = z.strictObject({
  writes_per_second: setting(wholeNumber(1).optional(), 'Requests other than GET and HEAD, in each mode.'),
  reads_per_second: setting(wholeNumber(1).optional(), 'GET and HEAD, in each mode.'),
});

/** The address of a page that a merchant publishes. */
const pageSchema = z
  .string()
  .superRefine(without((url) => webAddressFault(url, { httpsOnly: false })))
  .optional()
  .meta({ check: 'http or https URL' });

const merchantWebhookSchema = z.strictObject({
  id: setting(
    z.string().regex(/^[0-9a-z_]{1,40}$/, 'must be up to 40 of 0-9, a-z and _'),
    'A name of its own for the endpoint; with another name it is another endpoint.',
    'up to 40 of 0-9, a-z and _; used once',
  ),
  url: setting(z.string(), 'Where events are sent.', 'https URL with a host name'),
  types: setting(
    z.array(z.enum(EVENT_TYPES)).min(1).optional(),
    'The types of events that are sent; all when left out.',
    'types of events',
  ),
  mode: setting(
    z.enum(['live', 'test']).default('test'),
    'Whether events of real payments or of test payments are sent.',
  ),
});

const merchantWebhooksSchema = z.array(merchantWebhookSchema).max(ENDPOINTS_MAXIMUM).default([]);

export const merchantSchema = z.strictObject({
  id: setting(
    z.string().regex(/^mer_[0-9a-z_]{1,40}$/, 'must be mer_ and up to 40 of 0-9, a-z and _'),
    "The merchant's name in the store; never change it once it has payments.",
    '`mer_` and up to 40 of 0-9, a-z and _; used once',
  ),
  name: setting(
    givenText.superRefine(without(businessNameFault)),
    'Business name: what checkout shows.',
    '1 to 120 characters that can be seen, a letter or a digit among them',
  ),
  keys: setting(z.array(keySchema).default([]), 'The keys that act for this merchant.'),
  website: setting(pageSchema, "The merchant's site. Links back to another host name that host beside them."),
  support: setting(
    contact.optional(),
    'Where customers get help with a payment; shown at checkout.',
    CONTACT_CHECK,
  ),
  email: setting(
    z
      .string()
      .refine((text) => isEmailAddress(text) && !textFault(text, 254), 'must be an e-mail address')
      .optional(),
    'Where letters to this merchant go; never shown to customers.',
    'e-mail address',
  ),
  ...particularsShape,
  letters_off: setting(
    z.array(z.enum([...CUSTOMER_LETTERS, ...MERCHANT_LETTERS])).optional(),
    particularsShape.letters_off.description!,
    'names of letters',
  ),
  privacy_url: setting(pageSchema, 'What the merchant says about privacy; linked at checkout.'),
  terms_url: setting(pageSchema, "The merchant's terms; linked at checkout."),
  colour: setting(
    z
      .string()
      .regex(/^#[0-9a-f]{6}$/i, 'must be # and six hexadecimal digits')
      .optional(),
    "The merchant's colour at checkout: of the stub, of links and of buttons. It is made darker or lighter where it could not be read.",
    '`#rrggbb`',
  ),
  try_out: setting(
    z.boolean().default(false),
    "Whether the checkout pages of this merchant's test payments have buttons that bring them to every state. In development all have them.",
  ),
  rate_limits: setting(
    merchantLimitsSchema.optional(),
    'What this merchant may do more or less of than `rate_limits` says.',
  ),
  webhooks: setting(
    merchantWebhooksSchema,
    'Webhook endpoints of this merchant, beside those that it makes by the API.',
  ),
  methods: setting(
    z.array(z.string()).min(1).optional(),
    "The ids of the ways to pay that this merchant's customers are offered; all when left out.",
    'ids below `methods`',
  ),
});

interface WebhookSettings {
  environment: 'production' | 'development';
  webhooks: z.output<typeof webhooksSchema>;
  merchants: readonly { id: string; webhooks: z.output<typeof merchantWebhooksSchema> }[];
}

/** Where webhooks may be sent. In development also to this machine and private networks, over plain http. */
export function webhookRules({
  environment,
  webhooks,
}: Pick<WebhookSettings, 'environment' | 'webhooks'>): AddressRules {
  const { allowed_networks, ports, proxy } = webhooks;
  const own = { allowHttp: false, allowedNetworks: allowed_networks, ports };
  const rules =
    environment === 'production'
      ? own
      : {
          ...DEVELOPMENT_RULES,
          allowedNetworks: [...DEVELOPMENT_RULES.allowedNetworks, ...allowed_networks],
        };
  return { ...rules, ...(proxy !== null && { proxy }) };
}

/** The endpoints of all merchants of the file. Throws what `fail` makes. */
export function endpointsOf(
  settings: WebhookSettings,
  fail: (path: readonly PropertyKey[], problem: string) => Error,
): ConfiguredEndpoint[] {
  const rules = webhookRules(settings);
  return settings.merchants.flatMap(({ id: merchant_id, webhooks }, m) =>
    webhooks.map(({ id: name, url, types, mode }, w) => {
      const path = ['merchants', m, 'webhooks', w];
      const fault = checkUrl(url, rules);
      if (fault) throw fail([...path, 'url'], fault.replace(/^M/, 'm').replace(/\.$/, ''));
      if (webhooks.slice(0, w).some(({ id }) => id === name)) throw fail([...path, 'id'], 'is used twice');
      const written = types === undefined ? null : JSON.stringify([...new Set(types)]);
      const kept = settings.environment === 'development' ? ('test' as const) : mode;
      return { merchant_id, mode: kept, name, url, types: written };
    }),
  );
}
