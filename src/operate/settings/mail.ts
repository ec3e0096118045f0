// The settings of mail: the server that letters leave by, and the address that they are sent from.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isSendable } from '../../mail/message.ts';
import type { MailServer } from '../../mail/smtp.ts';

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
