// Serves what pages load, and takes what browsers report of the pages' content security policy.

import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../lib/log.ts';
import { jsonOr } from '../../lib/text.ts';
import { type Clock, MINUTE_MS } from '../../lib/time.ts';
import { ASSET_HEADERS, type Asset } from '../markup/assets.ts';
import { coloursNamed } from '../markup/colours.ts';
import { POLICY_REPORTS } from '../markup/page.ts';

/** Adds the routes to `app`, whose prefix is the path of the pages' base URL. */
export function serveAssets(
  app: FastifyInstance,
  { log, clock }: { log: Logger; clock: Clock },
  assets: readonly Asset[],
): void {
  const byName = new Map(assets.map((one) => [one.name, one]));
  app.get<{ Params: { '*': string } }>('/assets/*', (request, reply) => {
    const name = `assets/${request.params['*']}`;
    const found = byName.get(name) ?? coloursNamed(name);
    if (!found) return reply.callNotFound();
    const { type, content, packed } = found;
    reply.headers({ ...ASSET_HEADERS, 'content-type': type });
    if (!packed) return reply.send(content);
    reply.header('vary', 'accept-encoding');
    const isPacked = /\bgzip\b/.test(String(request.headers['accept-encoding']));
    return isPacked ? reply.header('content-encoding', 'gzip').send(packed) : reply.send(content);
  });
  app.register(policyReports, { prefix: `/${POLICY_REPORTS}`, log, clock });
}

const BODY_BYTES = 16 * 1024;
const REPORTS_MAXIMUM = 10;
/** Maximum number of reports logged in a minute, so that they cannot fill the log. */
const LOGGED_A_MINUTE = 60;

interface PolicyReport {
  directive: string;
  /** A scheme and host, or a word of the standard such as `inline`: never a path, which could name a payment. */
  blocked: string;
}

/** Adds POST to the prefix, which takes the form of CSP Level 2 (`report-uri`) and that of the Reporting API (`report-to`). */
async function policyReports(
  app: FastifyInstance,
  { log, clock }: { log: Logger; clock: Clock },
): Promise<void> {
  app.addContentTypeParser(
    ['application/csp-report', 'application/reports+json', 'application/json'],
    { parseAs: 'string', bodyLimit: BODY_BYTES },
    (_request, body, done) => done(null, body),
  );
  let minute = 0;
  let logged = 0;
  app.post('', (request, reply) => {
    const current = Math.floor(clock.now() / MINUTE_MS);
    if (current !== minute) [minute, logged] = [current, 0];
    for (const found of reportsIn(String(request.body ?? '')))
      if (logged++ < LOGGED_A_MINUTE)
        log.warn(found, 'a browser reports that the content security policy stopped something');
    return reply.code(204).header('cache-control', 'no-store').send();
  });
}

/** The report in a body. Undefined if it has neither of the two forms. */
function reportsIn(body: string): PolicyReport[] {
  return [jsonOr(body)]
    .flat()
    .slice(0, REPORTS_MAXIMUM)
    .flatMap((one) => {
      const report = one as Record<string, unknown> | null;
      const told = (report?.['csp-report'] ?? report?.body) as Record<string, unknown> | null | undefined;
      if (typeof told !== 'object' || told === null) return [];
      const directive = told['effective-directive'] ?? told['violated-directive'] ?? told.effectiveDirective;
      const blocked = told['blocked-uri'] ?? told.blockedURL;
      return [{ directive: word(directive), blocked: origin(blocked) }];
    });
}

const word = (value: unknown) => (typeof value === 'string' && /^[a-z-]{1,40}/.exec(value)?.[0]) || '';

function origin(value: unknown): string {
  if (typeof value !== 'string') return '';
  const text = value.slice(0, 2048);
  if (!URL.canParse(text)) return word(text);
  const url = new URL(text);
  return url.origin === 'null' ? url.protocol : url.origin;
}
