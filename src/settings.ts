// Every setting: its name, default, check and meaning. docs/configuration.md is written from this.
import { isIP } from 'node:net';
import { z } from 'zod';
import { isCurrency, parseAmount } from './lib/money.ts';
import { isEmailAddress, textFault } from './lib/text.ts';
import { isTimeZone } from './lib/time.ts';
import { webAddressFault } from './lib/web-address.ts';
import { isWholeKey } from './merchants/merchant.ts';
import { METHOD_GROUPS, methodsSchema } from './methods/settings.ts';

export const POSTGRES_URL = /^postgres(ql)?:\/\//;

const BASE_URL_CHECK =
  'http or https URL without a user name, ? or #; its path of A-Z a-z 0-9 . _ ~ - alone; https in production';

/** An address whose path is its own escaped form and means nothing to a router. */
const PLAIN_PATH = /^[^/]+\/\/[^/]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*\/*$/;

const baseUrl = z
  .string()
  .refine((url) => !webAddressFault(url, { httpsOnly: false }) && !/[?#]/.test(url), {
    error: 'must be an http or https URL, without a user name, ? or #',
    abort: true,
  })
  .regex(
    PLAIN_PATH,
    'must have a path of the characters A-Z a-z 0-9 . _ ~ - alone, without empty, . and .. segments',
  )
  .transform((url) => url.replace(/\/+$/, ''));

const keySchema = z
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

const merchantSchema = z.strictObject({
  id: z
    .string()
    .regex(/^mer_[0-9a-z_]{1,40}$/, 'must be mer_ and up to 40 of 0-9, a-z and _')
    .describe("The merchant's name in the store; never change it once it has payments.")
    .meta({ check: '`mer_` and up to 40 of 0-9, a-z and _; used once' }),
  name: z
    .string()
    .min(1)
    .superRefine((name, context) => {
      const fault = textFault(name, 120);
      if (fault) context.addIssue(fault);
    })
    .describe('Business name: what checkout shows.')
    .meta({ check: '1 to 120 characters, no control characters' }),
  keys: z.array(keySchema).default([]).describe('The keys that act for this merchant.'),
  website: z
    .string()
    .superRefine((url, context) => {
      const fault = webAddressFault(url, { httpsOnly: false });
      if (fault) context.addIssue(fault);
    })
    .optional()
    .describe("The merchant's site. Links back to another host name that host beside them.")
    .meta({ check: 'http or https URL' }),
  support: z
    .string()
    .refine(
      (contact) =>
        (isEmailAddress(contact) && !textFault(contact, 254)) ||
        /^\+?[\d ()/-]{3,40}$/.test(contact) ||
        isWebAddress(contact),
      'must be an e-mail address, a phone number or an http or https URL',
    )
    .optional()
    .describe('Where customers get help with a payment; shown at checkout.')
    .meta({ check: 'e-mail address, phone number, or http or https URL' }),
  methods: z
    .array(z.string())
    .min(1)
    .optional()
    .describe("The ids of the ways to pay that this merchant's customers are offered; all when left out.")
    .meta({ check: 'ids below `methods`' }),
});

const reviewSchema = z.strictObject({
  four_eyes_above: z
    .record(z.string(), z.number())
    .default({})
    .transform((amounts, context) => {
      const minor: Record<string, number> = {};
      for (const [currency, amount] of Object.entries(amounts)) {
        const parsed = isCurrency(currency)
          ? parseAmount(amount, currency)
          : { fault: 'is no currency: must be an ISO 4217 code such as EUR' };
        if ('minor' in parsed) minor[currency] = parsed.minor;
        else context.addIssue({ code: 'custom', path: [currency], message: lowered(parsed.fault) });
      }
      return minor;
    })
    .describe(
      'Amounts by currency above which a second administrator must confirm an approval, such as `EUR: 1000`.',
    )
    .meta({ check: 'ISO 4217 codes and amounts' }),
});

const lowered = (fault: string) => fault.replace(/^./, (first) => first.toLowerCase()).replace(/\.$/, '');

const isWebAddress = (text: string) => !webAddressFault(text, { httpsOnly: false });

/** Whether text is an IP address, or one with the length of its network's prefix (CIDR, RFC 4632). */
function isNetwork(text: string): boolean {
  const [address, prefix, ...rest] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address!)]!;
  return (
    bits > 0 &&
    rest.length === 0 &&
    (prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && +prefix <= bits))
  );
}

/** The schema is the documentation: docs/configuration.md is written from it. */
export const configurationSchema = z.strictObject({
  environment: z
    .enum(['development', 'production'])
    .default('production')
    .describe('In development all keys make test payments, and what is convenient but unsafe is allowed.'),
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address to listen on.')
    .meta({ check: 'an address of this machine' }),
  port: z.int().min(1).max(65535).default(8080).describe('Port to listen on. Environment: `PORT`.'),
  base_url: baseUrl
    .nullable()
    .default(null)
    .describe(
      'Where merchants reach the API, with its path if it has one. By default the address listened on; required in production.',
    )
    .meta({ check: BASE_URL_CHECK }),
  checkout_base_url: baseUrl
    .nullable()
    .default(null)
    .describe('Where customers reach checkout. By default `base_url`.')
    .meta({ check: BASE_URL_CHECK }),
  storage: z
    .string()
    .min(1)
    .default('./storage')
    .describe(
      'Private directory for the database and the checkpoint key; relative to this file. Environment: `COUNTERFOIL_STORAGE`.',
    )
    .meta({ check: 'open to its owner alone (mode 0700); made when missing' }),
  database_url: z
    .string()
    .regex(POSTGRES_URL, 'must begin with postgres://')
    .nullable()
    .default(null)
    .describe('PostgreSQL connection string; SQLite in `storage` when left out. Environment: `DATABASE_URL`.')
    .meta({ check: 'begins with `postgres://`' }),
  payment_lifetime_s: z
    .int()
    .min(300)
    .max(15_552_000)
    .default(86_400)
    .describe('Seconds a payment stays open when the request does not say.'),
  methods: methodsSchema
    .default([])
    .describe(
      "The ways to pay that customers are offered, in this order; those that fit a payment's currency and mode. Contact details alone when none does. Read again on SIGHUP.",
    ),
  time_zone: z
    .string()
    .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Berlin')
    .default('UTC')
    .describe(
      'The time zone that customers and administrators read moments in, and whose days are counted and exported.',
    )
    .meta({ check: 'a name of the IANA time zone database' }),
  checkout_forms_per_payment: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(30)
    .describe('How often the forms of one payment are taken in 10 minutes, by each node.'),
  checkout_forms_per_address: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(300)
    .describe(
      'How often forms are taken from one network address (IPv6: one /64 network) in 10 minutes, by each node.',
    ),
  sign_in_forms_per_address: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(20)
    .describe(
      'How often forms of signing in to the console are taken from one network address (IPv6: one /64 network) in 15 minutes, by each node.',
    ),
  review: reviewSchema.prefault({}).describe('How payments are reviewed.'),
  trust_proxy: z
    .array(z.string().refine(isNetwork, 'must be an IP address or a network such as 10.0.0.0/8'))
    .default([])
    .describe(
      "The proxies in front: the customer's address is then taken from their X-Forwarded-For; required in production.",
    )
    .meta({ check: 'IP addresses and networks' }),
  log_level: z
    .enum(['error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('How much is logged. No level logs keys, query strings or bodies.'),
  merchants: z
    .array(merchantSchema)
    .default([])
    .superRefine((merchants, context) => {
      const ids = new Set<string>();
      for (const [index, one] of merchants.entries()) {
        if (ids.has(one.id))
          context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is used twice' });
        ids.add(one.id);
      }
    })
    .describe('Who may create payments, and with which keys. Read again on SIGHUP.'),
});

export type Settings = z.output<typeof configurationSchema>;

const GROUPS = { review: reviewSchema, merchants: merchantSchema, keys: keySchema, ...METHOD_GROUPS };

/** The names of settings at a place in the file: `['merchants', 0]` → `id`, `name`, `keys`. */
export function namesAt(path: readonly PropertyKey[]): string[] {
  const group = String(path.findLast((part) => typeof part === 'string'));
  const schema = Object.hasOwn(GROUPS, group) ? GROUPS[group as keyof typeof GROUPS] : configurationSchema;
  return Object.keys(schema.shape);
}
