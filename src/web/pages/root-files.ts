// What browsers and crawlers ask of every host, whatever lies on it: /robots.txt, /favicon.ico, and the way from / to the first page.
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
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
