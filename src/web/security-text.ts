// GET /.well-known/security.txt: where to report a weakness of this installation (RFC 9116).
import type { FastifyInstance } from 'fastify';
import { type Clock, DAY_MS, formatTimestamp } from '../lib/time.ts';
import { contactAddress } from '../lib/web-address.ts';
import { API_HEADERS } from './headers.ts';

const SECURITY_TEXT_PATH = '/.well-known/security.txt';

/** RFC 9116 recommends less than a year. Counted from the day of the request, so that the file needs no renewal. */
const VALID_DAYS = 180;

/** What the file says: an e-mail address, phone number or https URL; the address of a policy; language tags. */
interface SecurityContact {
  contact: string;
  policy?: string | undefined;
  languages: readonly string[];
}

/** Adds the route at the root of the host, whatever the path of its base URL. `origins`: of the site's base URLs. */
export function addSecurityText(
  app: FastifyInstance,
  { contact, policy, languages }: SecurityContact,
  { origins, clock }: { origins: readonly string[]; clock: Clock },
): void {
  app.get(SECURITY_TEXT_PATH, (_request, reply) => {
    const today = Math.floor(clock.now() / DAY_MS);
    const lines = [
      `Contact: ${contactAddress(contact)}`,
      `Expires: ${formatTimestamp((today + VALID_DAYS) * DAY_MS).replace('+00:00', 'Z')}`,
      ...origins.map((origin) => `Canonical: ${origin}${SECURITY_TEXT_PATH}`),
      ...(policy === undefined ? [] : [`Policy: ${policy}`]),
      ...(languages.length === 0 ? [] : [`Preferred-Languages: ${languages.join(', ')}`]),
    ];
    reply.headers({ ...API_HEADERS, 'content-type': 'text/plain; charset=utf-8' });
    return reply.send(`${lines.join('\n')}\n`);
  });
}
