// Every setting: its name, default, check and meaning. docs/configuration.md is written from this.
import { z } from 'zod';
import { textFault } from './lib/text.ts';
import { webAddressFault } from './lib/web-address.ts';
import { isWholeKey } from './merchants/merchant.ts';

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
});

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

/** The names of settings at a place in the file: `['merchants', 0]` → `id`, `name`, `keys`. */
export function namesAt(path: readonly PropertyKey[]): string[] {
  const schema = { merchants: merchantSchema, keys: keySchema }[
    String(path.findLast((part) => typeof part === 'string'))
  ];
  return Object.keys((schema ?? configurationSchema).shape);
}
