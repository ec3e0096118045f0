// Files that every host has at its root: /robots.txt, /favicon.ico, security.txt (RFC 9116), and the way from / to the first page.
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { type Clock, DAY_MS, formatTimestamp } from '../../lib/time.ts';
import { contactAddress } from '../../lib/web-address.ts';
import { API_HEADERS } from '../headers.ts';
import { ASSET_HEADERS } from '../markup/assets.ts';

/** The icon for what reads no SVG, such as Safari. Made by scripts/write-pictures.ts. */
const favicon = readFileSync(new URL('../markup/favicon.ico', import.meta.url));
const DAY_S = 86_400;

/** Adds the routes at the root of a host. `front`: the path of its first page; undefined if it has none, `/` if that is a page. */
export function addRootFiles(app: FastifyInstance, front: string | undefined): void {
  app.get('/robots.txt', (_request, reply) =>
    reply
      .headers({ ...API_HEADERS, 'content-type': 'text/plain; charset=utf-8' })
      .send('User-agent: *\nDisallow: /\n'),
  );
  app.get('/favicon.ico', (_request, reply) =>
    reply
      .headers({
        ...ASSET_HEADERS,
        'cache-control': `public, max-age=${DAY_S}`,
        'content-type': 'image/x-icon',
      })
      .send(favicon),
  );
  if (front !== undefined && front !== '/')
    app.get('/', (_request, reply) => reply.headers(API_HEADERS).redirect(front, 303));
}

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
