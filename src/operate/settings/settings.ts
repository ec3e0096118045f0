// Every setting: its name, default, check and meaning. docs/configuration.md is written from this.
import { z } from 'zod';
import { isCurrency, parseAmount } from '../../lib/money.ts';
import { givenText, setting, wholeNumber, without } from '../../lib/setting.ts';
import { eachOnce, methodsSchema } from '../../payments/methods/settings.ts';
import { termsSettings } from '../../payments/pay-by.ts';
import { hostsFault } from '../../store/connection-string.ts';
import { merchantSchema } from './merchants.ts';
import {
  BASE_URL_CHECK,
  baseUrl,
  mailSchema,
  metricsSchema,
  networkText,
  placeSchema,
  rateLimitsSchema,
  registrationSchema,
  securitySchema,
  statementsSchema,
  tlsSchema,
  webhooksSchema,
} from './operation.ts';

const reviewSchema = z.strictObject({
  four_eyes_above: setting(
    z
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
      }),
    'Amounts by currency above which a second administrator must confirm an approval, such as `EUR: 1000`.',
    'ISO 4217 codes and amounts',
  ),
});

const lowered = (fault: string) => fault.replace(/^./, (first) => first.toLowerCase()).replace(/\.$/, '');

/** The schema is the documentation: docs/configuration.md is written from it. */
export const configurationSchema = z.strictObject({
  environment: setting(
    z.enum(['development', 'production']).default('production'),
    'In development all keys make test payments, and what is convenient but unsafe is allowed.',
  ),
  host: setting(givenText.default('127.0.0.1'), 'Address to listen on.', 'an address of this machine'),
  port: setting(wholeNumber(1, 65535).default(8080), 'Port to listen on. Environment: `PORT`.'),
  base_url: setting(
    baseUrl.nullable().default(null),
    'Where merchants reach the API, with its path if it has one. By default the address listened on; required in production.',
    BASE_URL_CHECK,
  ),
  checkout_base_url: setting(
    baseUrl.nullable().default(null),
    'Where customers reach checkout. By default `base_url`.',
    BASE_URL_CHECK,
  ),
  storage: setting(
    givenText.default('./storage'),
    'Private directory for the database, the checkpoint key and the keys for secrets in the store; relative to this file. Environment: `COUNTERFOIL_STORAGE`.',
    'open to its owner alone (mode 0700); made when missing',
  ),
  secrets_key_file: setting(
    givenText.nullable().default(null),
    'File with the keys for secrets in the store, such as a secret of containers, in place of `secrets.key` in `storage`; relative to this file. The program never writes it. Every node needs the same keys. Environment: `COUNTERFOIL_SECRETS_KEY`, the keys themselves.',
    'a file that its owner alone may read',
  ),
  database_url: setting(
    z.string().superRefine(without(hostsFault)).nullable().default(null),
    'PostgreSQL connection string, with `?sslmode=verify-full` where that is on another machine; SQLite in `storage` when left out. With several hosts, `postgres://user@one:5432,two:5432/name`, the one is used that takes writes and is on the newest timeline ([runbook.md](operating/runbook.md#a-failover)). Environment: `DATABASE_URL`.',
    'begins with `postgres://`; no `#`, `/` or `?` of a password as it is, but percent-encoded; at most 8 hosts; `target_session_attrs`, if at all, is `read-write`',
  ),
  ...termsSettings,
  methods: setting(
    methodsSchema.default([]),
    "The ways to pay that customers are offered, in this order; those that fit a payment's currency and mode. Contact details alone when none does. Read again on SIGHUP.",
  ),
  checkout_forms_per_payment: setting(
    wholeNumber(1).default(30),
    'How often the forms of one payment are taken in 10 minutes, by each node.',
  ),
  checkout_forms_per_address: setting(
    wholeNumber(1).default(300),
    'How often forms are taken from one network address (IPv6: one /64 network; one /48 four times as often) in 10 minutes, by each node.',
  ),
  sign_in_forms_per_address: setting(
    wholeNumber(1).default(20),
    'How often forms of signing in to the console are taken from one network address (IPv6: one /64 network; one /48 four times as often) in 15 minutes, by each node.',
  ),
  review: setting(reviewSchema.prefault({}), 'How payments are reviewed.'),
  registration: setting(registrationSchema.prefault({}), 'How new merchants come to be.'),
  rate_limits: setting(
    rateLimitsSchema.prefault({}),
    'How often requests are taken: by all nodes together, each its share (`nodes`).',
  ),
  console: setting(placeSchema.prefault({}), 'Where the console is, when it is kept apart from the API.'),
  admin: setting(
    placeSchema.prefault({}),
    "Where the administrators' API is, when it is kept apart from that of merchants.",
  ),
  metrics: setting(
    metricsSchema.nullable().default(null),
    'Where Prometheus reads measurements, at /metrics; nowhere when left out.',
  ),
  statements: setting(statementsSchema.prefault({}), 'How bank statements are kept.'),
  webhooks: setting(webhooksSchema.prefault({}), 'Where events of payments may be sent to merchants.'),
  mail: setting(
    mailSchema.nullable().default(null),
    'How letters to customers, merchants and administrators leave ([mail.md](mail.md)). Without it no letter is sent; in development they lie at `/dev/mail`.',
  ),
  docs: setting(
    z.boolean().default(true),
    "Whether the developers' documentation is served, at `/docs` and `/llms.txt` below `base_url`.",
  ),
  tls: setting(
    tlsSchema.nullable().default(null),
    'The certificate to speak https with, where no proxy does. Read again on SIGHUP.',
  ),
  security: setting(
    securitySchema.nullable().default(null),
    'What `/.well-known/security.txt` of every host name says (RFC 9116). Without it there is no such file.',
  ),
  nodes: setting(
    wholeNumber(1, 1000).default(1),
    'How many nodes share the database: each takes its part of the `rate_limits`. SQLite takes one.',
  ),
  backups: setting(
    givenText.nullable().default(null),
    'Folder that backups are put in; `counterfoil doctor` says when the newest is old. Relative to this file.',
    'a folder',
  ),
  allow_root: setting(
    z.boolean().default(false),
    'Whether the service may run as root in production. It does not need root.',
  ),
  trust_proxy: setting(
    z.array(networkText).default([]),
    "The proxies in front: the customer's address is then taken from their X-Forwarded-For; required in production, unless `tls` is set.",
    'IP addresses and networks',
  ),
  log_level: setting(
    z.enum(['error', 'warn', 'info', 'debug']).default('info'),
    'How much is logged. No level logs keys, query strings or bodies.',
  ),
  log_addresses: setting(
    z.enum(['network', 'address', 'digest']).default('network'),
    'What the log holds of an address that was refused or signed in: its network (IPv4 /24, IPv6 /64), the address, or a digest whose key each start makes anew.',
  ),
  merchants: setting(
    z.array(merchantSchema).default([]).superRefine(eachOnce),
    'Who may create payments, and with which keys. Read again on SIGHUP.',
  ),
});

export type Settings = z.output<typeof configurationSchema>;

/** The names of settings at a place in the file: `['merchants', 0]` → `id`, `name`, `keys`. */
export function namesAt(path: readonly PropertyKey[]): string[] {
  let group = groupIn(configurationSchema);
  for (const part of path) if (typeof part === 'string') group = groupIn(group?.shape[part]);
  return Object.keys(group?.shape ?? {});
}

/** The group that a schema is of, or is a list of; undefined if it is of a single value. */
function groupIn(schema: z.core.$ZodType | undefined): z.ZodObject | undefined {
  if (schema === undefined || schema instanceof z.ZodObject) return schema;
  const def = schema._zod.def as Partial<Record<'innerType' | 'element' | 'in', z.core.$ZodType>>;
  return groupIn(def.innerType ?? def.element ?? def.in);
}
