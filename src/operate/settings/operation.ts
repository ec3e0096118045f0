// The settings of addresses, nodes, limits and mail.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { givenText, setting, wholeNumber } from '../../lib/setting.ts';
import { isEmailAddress, textFault } from '../../lib/text.ts';
import { webAddressFault } from '../../lib/web-address.ts';
import { isSendable } from '../../mail/message.ts';
import type { MailServer } from '../../mail/smtp.ts';

export const BASE_URL_CHECK =
  'http or https URL without a user name, ? or #; its path of A-Z a-z 0-9 . _ ~ - alone; https in production';

/** An address whose path is its own escaped form and means nothing to a router. */
const PLAIN_PATH = /^[^/]+\/\/[^/]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*\/*$/;

export const baseUrl = z
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

export const CONTACT_CHECK = 'e-mail address, phone number, or http or https URL';
const CONTACT_FAULT = 'must be an e-mail address, a phone number or an http or https URL';

const isWebAddress = (text: string) => !webAddressFault(text, { httpsOnly: false });

function isContact(text: string): boolean {
  return (
    (isEmailAddress(text) && !textFault(text, 254)) || /^\+?[\d ()/-]{3,40}$/.test(text) || isWebAddress(text)
  );
}

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

export const contact = z.string().refine(isContact, CONTACT_FAULT);
export const networkText = z
  .string()
  .refine(isNetwork, 'must be an IP address or a network such as 10.0.0.0/8');

export const rateLimitsSchema = z.strictObject({
  enabled: setting(
    z.boolean().nullable().default(null),
    'Whether requests under /v1 are limited. By default in production alone.',
  ),
  writes_per_second: setting(
    wholeNumber(1).default(50),
    'Requests other than GET and HEAD, for each merchant and mode; twice as many at once.',
  ),
  reads_per_second: setting(
    wholeNumber(1).default(200),
    'GET and HEAD, for each merchant and mode; twice as many at once.',
  ),
  refused_keys_per_minute: setting(
    wholeNumber(1).default(20),
    'How often one network address (IPv6: one /64 network) is told in a minute that its key is refused, and one IPv6 /48 network four times as often; then it is told to wait.',
  ),
});

export const registrationSchema = z.strictObject({
  mode: setting(
    z.enum(['open', 'invite', 'closed']).nullable().default(null),
    'Who may register as a merchant at /register: everyone, those with an invitation (`counterfoil invites create`), or no one. By default `open` in development and `closed` in production.',
  ),
  contact: setting(
    contact.optional(),
    'Whom to ask for access; shown where registration is not open.',
    CONTACT_CHECK,
  ),
  per_address: setting(
    wholeNumber(1).default(5),
    'How many registrations are taken from one network address (IPv6: one /64 network) in an hour, by each node; four times as many from one IPv6 /48 network.',
  ),
  per_hour: setting(
    wholeNumber(1).default(500),
    'How many registrations are taken in an hour from all addresses together, by each node.',
  ),
});

const listener = {
  host: setting(
    givenText.optional(),
    'Address to listen on, with `port`. By default the `host` above.',
    'an address of this machine',
  ),
  port: setting(wholeNumber(1, 65535).optional(), 'Port of its own. By default it shares the port above.'),
};

export const placeSchema = z.strictObject({
  base_url: setting(
    baseUrl.optional(),
    'Where it is reached, when that is not `base_url`: requests for other host names then do not find it.',
    BASE_URL_CHECK,
  ),
  ...listener,
});

export const metricsSchema = z.strictObject({
  host: setting(
    givenText.default('127.0.0.1'),
    'Address to listen on: one that monitoring alone reaches.',
    'an address of this machine',
  ),
  port: setting(
    wholeNumber(1, 65535).default(9464),
    'Port to listen on. `METRICS_PORT` in the environment goes over it.',
  ),
});

export const securitySchema = z.strictObject({
  contact: setting(
    z
      .string()
      .refine((text) => isContact(text) && !/^http:/i.test(text), CONTACT_FAULT.replace('http or ', '')),
    'Whom to tell of a weakness.',
    CONTACT_CHECK.replace('http or ', ''),
  ),
  policy: setting(
    z
      .string()
      .refine((text) => !webAddressFault(text, { httpsOnly: true }), 'must be an https URL')
      .optional(),
    'Page that says how reports are handled.',
    'https URL',
  ),
  languages: setting(
    z
      .array(z.string().regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'must be a language tag such as en'))
      .max(20)
      .default([]),
    'Languages to write in.',
    'language tags',
  ),
});

export const tlsSchema = z.strictObject({
  certificate: setting(
    givenText,
    'File with the certificate and those that lead to its issuer, PEM; relative to this file.',
    'a file',
  ),
  key: setting(
    givenText,
    'File with the private key, PEM; relative to this file.',
    'a file that its owner alone may read',
  ),
});

export const webhooksSchema = z.strictObject({
  allowed_networks: setting(
    z.array(networkText).default([]),
    'Networks that are not public and may be sent to, over plain http too, such as `10.1.0.0/16`. Every merchant may then send there. Metadata addresses of clouds need an entry of their own.',
    'IP addresses and networks',
  ),
  ports: setting(z.array(wholeNumber(1, 65535)).default([]), 'Ports that endpoints may have beside 443.'),
  proxy: setting(
    z.string().refine(isWebAddress, 'must be an http or https URL').nullable().default(null),
    'An http proxy that every webhook goes through. It is asked for the checked address.',
    'http or https URL',
  ),
});

const PREFIX_FAULT =
  'must have 1 to 20 characters, a letter among them and no white space at its ends; not RF, with which transfer references begin';

/** Without a letter it would cut amounts and numbers. */
function isPrefix(text: string): boolean {
  return /^(?=.*\p{L})\S(?:.{0,18}\S)?$/u.test(text) && !/^RF$/i.test(text);
}

export const statementsSchema = z.strictObject({
  folder: setting(
    givenText.nullable().default(null),
    'Folder whose files are imported by themselves and moved to `done` or, with the reason, to `failed` in it ([how](statements.md#the-watched-folder)). Relative to this file; nodes may share one.',
    'a folder',
  ),
  keep_days: setting(
    wholeNumber(1, 36_500).nullable().default(null),
    'After how many days what the bank wrote on a line is erased: text, references, and who paid. Amount, day and what became of it stay. Kept when left out.',
    '1 to 36500',
  ),
  prefixes: setting(
    z.array(z.string().refine(isPrefix, PREFIX_FAULT)).max(20).default([]),
    'What you write before references on bills, such as `INV-`. In the text of a bank line it is no part of a reference, and may be missing.',
    '1 to 20 characters, a letter among them; not RF',
  ),
});

export const mailSchema = z
  .strictObject({
    host: setting(givenText.max(255), 'The SMTP server that takes the letters.', 'a host name or an address'),
    port: setting(wholeNumber(1, 65535).default(587), 'Its port.'),
    tls: setting(
      z.enum(['starttls', 'implicit', 'none']).default('starttls'),
      '`starttls`: the connection begins in the clear, and nothing is sent before it is encrypted (587). `implicit`: it is encrypted from the beginning (465). `none`: never, for a server on this machine.',
    ),
    user: setting(
      givenText.optional(),
      'Whom to sign in as. Without it nobody signs in.',
      'at least a character',
    ),
    password: setting(
      givenText.optional(),
      'The password. Environment: `COUNTERFOIL_MAIL_PASSWORD`.',
      'at least a character',
    ),
    password_file: setting(
      givenText.optional(),
      'File that holds the password alone, in its place; relative to this file.',
      'a file',
    ),
    from: setting(
      z.string().refine(isSendable, 'must be an e-mail address'),
      'The address that letters are sent from. The server must be allowed to send for its domain.',
      'e-mail address',
    ),
    bounces: setting(
      z.string().refine(isSendable, 'must be an e-mail address').optional(),
      'Where letters come back to that cannot be delivered; `from` when left out. Its mailbox hands them to `counterfoil mail bounced`.',
      'e-mail address',
    ),
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
