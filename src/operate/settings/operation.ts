// The settings of addresses, nodes and limits.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { webAddressFault } from '../../lib/web-address.ts';
import { isSendable } from '../../mail/message.ts';
import type { MailServer } from '../../mail/smtp.ts';
import {
  BASE_URL_CHECK,
  baseUrl,
  CONTACT_CHECK,
  CONTACT_FAULT,
  isContact,
  isNetwork,
  perSecond,
} from './parts.ts';

export const rateLimitsSchema = z.strictObject({
  enabled: z
    .boolean()
    .nullable()
    .default(null)
    .describe('Whether requests under /v1 are limited. By default in production alone.'),
  writes_per_second: perSecond(
    'Requests other than GET and HEAD, for each merchant and mode; twice as many at once.',
  ).default(50),
  reads_per_second: perSecond('GET and HEAD, for each merchant and mode; twice as many at once.').default(
    200,
  ),
  refused_keys_per_minute: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(20)
    .describe(
      'How often one network address (IPv6: one /64 network) is told in a minute that its key is refused, and one IPv6 /48 network four times as often; then it is told to wait.',
    ),
});

export const registrationSchema = z.strictObject({
  mode: z
    .enum(['open', 'invite', 'closed'])
    .nullable()
    .default(null)
    .describe(
      'Who may register as a merchant at /register: everyone, those with an invitation (`counterfoil invites create`), or no one. By default `open` in development and `closed` in production.',
    ),
  contact: z
    .string()
    .refine(isContact, CONTACT_FAULT)
    .optional()
    .describe('Whom to ask for access; shown where registration is not open.')
    .meta({ check: CONTACT_CHECK }),
  per_address: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(5)
    .describe(
      'How many registrations are taken from one network address (IPv6: one /64 network) in an hour, by each node; four times as many from one IPv6 /48 network.',
    ),
  per_hour: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(500)
    .describe('How many registrations are taken in an hour from all addresses together, by each node.'),
});

const listener = {
  host: z
    .string()
    .min(1)
    .optional()
    .describe('Address to listen on, with `port`. By default the `host` above.')
    .meta({ check: 'an address of this machine' }),
  port: z
    .int()
    .min(1)
    .max(65535)
    .optional()
    .describe('Port of its own. By default it shares the port above.'),
};

export const placeSchema = z.strictObject({
  base_url: baseUrl
    .optional()
    .describe(
      'Where it is reached, when that is not `base_url`: requests for other host names then do not find it.',
    )
    .meta({ check: BASE_URL_CHECK }),
  ...listener,
});

export const metricsSchema = z.strictObject({
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address to listen on: one that monitoring alone reaches.')
    .meta({ check: 'an address of this machine' }),
  port: z
    .int()
    .min(1)
    .max(65535)
    .default(9464)
    .describe('Port to listen on. `METRICS_PORT` in the environment goes over it.'),
});

export const securitySchema = z.strictObject({
  contact: z
    .string()
    .refine((text) => isContact(text) && !/^http:/i.test(text), CONTACT_FAULT.replace('http or ', ''))
    .describe('Whom to tell of a weakness.')
    .meta({ check: CONTACT_CHECK.replace('http or ', '') }),
  policy: z
    .string()
    .refine((text) => !webAddressFault(text, { httpsOnly: true }), 'must be an https URL')
    .optional()
    .describe('Page that says how reports are handled.')
    .meta({ check: 'https URL' }),
  languages: z
    .array(z.string().regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'must be a language tag such as en'))
    .max(20)
    .default([])
    .describe('Languages to write in.')
    .meta({ check: 'language tags' }),
});

export const tlsSchema = z.strictObject({
  certificate: z
    .string()
    .min(1)
    .describe('File with the certificate and those that lead to its issuer, PEM; relative to this file.')
    .meta({ check: 'a file' }),
  key: z
    .string()
    .min(1)
    .describe('File with the private key, PEM; relative to this file.')
    .meta({ check: 'a file that its owner alone may read' }),
});

export const webhooksSchema = z.strictObject({
  allowed_networks: z
    .array(z.string().refine(isNetwork, 'must be an IP address or a network such as 10.0.0.0/8'))
    .default([])
    .describe(
      'Networks that are not public and may be sent to, over plain http too, such as `10.1.0.0/16`. Every merchant may then send there. Metadata addresses of clouds need an entry of their own.',
    )
    .meta({ check: 'IP addresses and networks' }),
  ports: z.array(z.int().min(1).max(65535)).default([]).describe('Ports that endpoints may have beside 443.'),
  proxy: z
    .string()
    .refine((url) => !webAddressFault(url, { httpsOnly: false }), 'must be an http or https URL')
    .nullable()
    .default(null)
    .describe('An http proxy that every webhook goes through. It is asked for the checked address.')
    .meta({ check: 'http or https URL' }),
});

const PREFIX_FAULT =
  'must have 1 to 20 characters, a letter among them and no white space at its ends; not RF, with which transfer references begin';

/** Without a letter it would cut amounts and numbers. */
function isPrefix(text: string): boolean {
  return /^(?=.*\p{L})\S(?:.{0,18}\S)?$/u.test(text) && !/^RF$/i.test(text);
}

export const statementsSchema = z.strictObject({
  folder: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'Folder whose files are imported by themselves and moved to `done` or, with the reason, to `failed` in it ([how](statements.md#the-watched-folder)). Relative to this file; nodes may share one.',
    )
    .meta({ check: 'a folder' }),
  keep_days: z
    .int()
    .min(1)
    .max(36_500)
    .nullable()
    .default(null)
    .describe(
      'After how many days what the bank wrote on a line is erased: text, references, and who paid. Amount, day and what became of it stay. Kept when left out.',
    )
    .meta({ check: '1 to 36500' }),
  prefixes: z
    .array(z.string().refine(isPrefix, PREFIX_FAULT))
    .max(20)
    .default([])
    .describe(
      'What you write before references on bills, such as `INV-`. In the text of a bank line it is no part of a reference, and may be missing.',
    )
    .meta({ check: '1 to 20 characters, a letter among them; not RF' }),
});

export const mailSchema = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .max(255)
      .describe('The SMTP server that takes the letters.')
      .meta({ check: 'a host name or an address' }),
    port: z.int().min(1).max(65535).default(587).describe('Its port.'),
    tls: z
      .enum(['starttls', 'implicit', 'none'])
      .default('starttls')
      .describe(
        '`starttls`: the connection begins in the clear, and nothing is sent before it is encrypted (587). `implicit`: it is encrypted from the beginning (465). `none`: never, for a server on this machine.',
      ),
    user: z
      .string()
      .min(1)
      .optional()
      .describe('Whom to sign in as. Without it nobody signs in.')
      .meta({ check: 'at least a character' }),
    password: z
      .string()
      .min(1)
      .optional()
      .describe('The password. Environment: `COUNTERFOIL_MAIL_PASSWORD`.')
      .meta({ check: 'at least a character' }),
    password_file: z
      .string()
      .min(1)
      .optional()
      .describe('File that holds the password alone, in its place; relative to this file.')
      .meta({ check: 'a file' }),
    from: z
      .string()
      .refine(isSendable, 'must be an e-mail address')
      .describe('The address that letters are sent from. The server must be allowed to send for its domain.')
      .meta({ check: 'e-mail address' }),
    bounces: z
      .string()
      .refine(isSendable, 'must be an e-mail address')
      .optional()
      .describe(
        'Where letters come back to that cannot be delivered; `from` when left out. Its mailbox hands them to `counterfoil mail bounced`.',
      )
      .meta({ check: 'e-mail address' }),
  })
  .refine(
    (one) => one.password === undefined || one.password_file === undefined,
    'must have either password or password_file, one of the two',
  );

/** How letters leave, with the password, which `password` of the environment goes over. Throws the system's errors of its file. */
export function mailServer(
  { host, port, tls, user, password, password_file, bounces, from }: z.output<typeof mailSchema>,
  given: string | null,
): MailServer {
  const kept = password_file === undefined ? password : readFileSync(password_file, 'utf8').trim();
  const signIn = { user: user ?? null, password: given ?? kept ?? null };
  return {
    host,
    port,
    tls,
    ...signIn,
    bounces: bounces ?? null,
    name: from.slice(from.lastIndexOf('@') + 1),
  };
}
