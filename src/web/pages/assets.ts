// Serves what pages load, and takes what browsers report of the pages' content security policy.
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../lib/log.ts';
import type { Clock } from '../../lib/time.ts';
import { ASSET_HEADERS, type Asset } from '../markup/assets.ts';
import { POLICY_REPORTS } from '../markup/page.ts';
import { policyReports } from './policy-reports.ts';

/** Adds the routes to `app`, whose prefix is the path of the pages' base URL. */
export function serveAssets(
  app: FastifyInstance,
  { log, clock }: { log: Logger; clock: Clock },
  assets: readonly Asset[],
): void {
  for (const { name, type, content } of assets) {
    app.get(`/${name}`, (_request, reply) =>
      reply.headers({ ...ASSET_HEADERS, 'content-type': type }).send(content),
    );
  }
  app.register(policyReports, { prefix: `/${POLICY_REPORTS}`, log, clock });
}
