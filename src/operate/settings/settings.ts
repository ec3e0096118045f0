// Every setting: its name, default, check and meaning. docs/configuration.md is written from this.
import { z } from 'zod';
import { isCurrency, parseAmount } from '../../lib/money.ts';
import { METHOD_GROUPS, methodsSchema } from '../../payments/methods/settings.ts';
import { termsSettings } from '../../payments/settings.ts';
import { hostsFault } from '../../store/connection-string.ts';
import { keySchema, merchantLimitsSchema, merchantSchema } from './merchants.ts';
import {
  mailSchema,
  metricsSchema,
  placeSchema,
  rateLimitsSchema,
  registrationSchema,
  securitySchema,
  statementsSchema,
  tlsSchema,
  webhooksSchema,
} from './operation.ts';
import { BASE_URL_CHECK, baseUrl, isNetwork } from './parts.ts';
import { merchantWebhookSchema } from './webhook-endpoints.ts';

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
      'Private directory for the database, the checkpoint key and the keys for secrets in the store; relative to this file. Environment: `COUNTERFOIL_STORAGE`.',
    )
    .meta({ check: 'open to its owner alone (mode 0700); made when missing' }),
  secrets_key_file: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'File with the keys for secrets in the store, such as a secret of containers, in place of `secrets.key` in `storage`; relative to this file. The program never writes it. Every node needs the same keys. Environment: `COUNTERFOIL_SECRETS_KEY`, the keys themselves.',
    )
    .meta({ check: 'a file that its owner alone may read' }),
  database_url: z
    .string()
    .superRefine((url, context) => {
      const fault = hostsFault(url);
      if (fault) context.addIssue({ code: 'custom', message: fault });
    })
    .nullable()
    .default(null)
    .describe(
      'PostgreSQL connection string, with `?sslmode=verify-full` where that is on another machine; SQLite in `storage` when left out. With several hosts, `postgres://user@one:5432,two:5432/name`, the one is used that takes writes and is on the newest timeline ([runbook.md](operating/runbook.md#a-failover)). Environment: `DATABASE_URL`.',
    )
    .meta({
      check:
        'begins with `postgres://`; no `#`, `/` or `?` of a password as it is, but percent-encoded; at most 8 hosts; `target_session_attrs`, if at all, is `read-write`',
    }),
  ...termsSettings,
  methods: methodsSchema
    .default([])
    .describe(
      "The ways to pay that customers are offered, in this order; those that fit a payment's currency and mode. Contact details alone when none does. Read again on SIGHUP.",
    ),
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
      'How often forms are taken from one network address (IPv6: one /64 network; one /48 four times as often) in 10 minutes, by each node.',
    ),
  sign_in_forms_per_address: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(20)
    .describe(
      'How often forms of signing in to the console are taken from one network address (IPv6: one /64 network; one /48 four times as often) in 15 minutes, by each node.',
    ),
  review: reviewSchema.prefault({}).describe('How payments are reviewed.'),
  registration: registrationSchema.prefault({}).describe('How new merchants come to be.'),
  rate_limits: rateLimitsSchema
    .prefault({})
    .describe('How often requests are taken: by all nodes together, each its share (`nodes`).'),
  console: placeSchema.prefault({}).describe('Where the console is, when it is kept apart from the API.'),
  admin: placeSchema
    .prefault({})
    .describe("Where the administrators' API is, when it is kept apart from that of merchants."),
  metrics: metricsSchema
    .nullable()
    .default(null)
    .describe('Where Prometheus reads measurements, at /metrics; nowhere when left out.'),
  statements: statementsSchema.prefault({}).describe('How bank statements are kept.'),
  webhooks: webhooksSchema.prefault({}).describe('Where events of payments may be sent to merchants.'),
  mail: mailSchema
    .nullable()
    .default(null)
    .describe(
      'How letters to customers, merchants and administrators leave ([mail.md](mail.md)). Without it no letter is sent; in development they lie at `/dev/mail`.',
    ),
  docs: z
    .boolean()
    .default(true)
    .describe(
      "Whether the developers' documentation is served, at `/docs` and `/llms.txt` below `base_url`.",
    ),
  tls: tlsSchema
    .nullable()
    .default(null)
    .describe('The certificate to speak https with, where no proxy does. Read again on SIGHUP.'),
  security: securitySchema
    .nullable()
    .default(null)
    .describe(
      'What `/.well-known/security.txt` of every host name says (RFC 9116). Without it there is no such file.',
    ),
  nodes: z
    .int()
    .min(1)
    .max(1000)
    .default(1)
    .describe(
      'How many nodes share the database: each takes its part of the `rate_limits`. SQLite takes one.',
    ),
  backups: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'Folder that backups are put in; `counterfoil doctor` says when the newest is old. Relative to this file.',
    )
    .meta({ check: 'a folder' }),
  allow_root: z
    .boolean()
    .default(false)
    .describe('Whether the service may run as root in production. It does not need root.'),
  trust_proxy: z
    .array(z.string().refine(isNetwork, 'must be an IP address or a network such as 10.0.0.0/8'))
    .default([])
    .describe(
      "The proxies in front: the customer's address is then taken from their X-Forwarded-For; required in production, unless `tls` is set.",
    )
    .meta({ check: 'IP addresses and networks' }),
  log_level: z
    .enum(['error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('How much is logged. No level logs keys, query strings or bodies.'),
  log_addresses: z
    .enum(['network', 'address', 'digest'])
    .default('network')
    .describe(
      'What the log holds of an address that was refused or signed in: its network (IPv4 /24, IPv6 /64), the address, or a digest whose key each start makes anew.',
    ),
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

/** The groups of settings by their paths, without list indexes. */
const GROUPS: Readonly<Record<string, { shape: object }>> = {
  review: reviewSchema,
  registration: registrationSchema,
  rate_limits: rateLimitsSchema,
  console: placeSchema,
  admin: placeSchema,
  metrics: metricsSchema,
  security: securitySchema,
  mail: mailSchema as unknown as { shape: object },
  tls: tlsSchema,
  statements: statementsSchema,
  webhooks: webhooksSchema,
  merchants: merchantSchema,
  'merchants.keys': keySchema,
  'merchants.webhooks': merchantWebhookSchema,
  'merchants.rate_limits': merchantLimitsSchema,
  ...METHOD_GROUPS,
};

/** The names of settings at a place in the file: `['merchants', 0]` → `id`, `name`, `keys`. */
export function namesAt(path: readonly PropertyKey[]): string[] {
  const group = path.filter((part) => typeof part === 'string').join('.');
  return Object.keys((Object.hasOwn(GROUPS, group) ? GROUPS[group]! : configurationSchema).shape);
}
