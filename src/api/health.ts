// Whether the service works, asked often and by anybody: true only if the store took a write within the last second.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { API_HEADERS } from '../http/headers.ts';
import type { Journal } from '../journal/journal.ts';
import { type Clock, formatTimestamp, monotonicMs, SECOND_MS } from '../lib/time.ts';

const GOOD_FOR_MS = SECOND_MS;
const PROBE_DEADLINE_MS = 2 * SECOND_MS;

export const healthSchema = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  version: z.string(),
  time: z.string().describe('ISO 8601 with a numeric UTC offset.'),
});

export function addHealthRoute(
  app: FastifyInstance,
  path: string,
  journal: Journal,
  clock: Clock,
  version: string,
): void {
  let probedAt = Number.NEGATIVE_INFINITY;
  let writable: Promise<boolean> = Promise.resolve(false);

  function probe(): Promise<boolean> {
    // One probe serves all who ask within a second, so that asking costs the store nothing.
    if (monotonicMs() - probedAt > GOOD_FOR_MS) {
      probedAt = monotonicMs();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, PROBE_DEADLINE_MS, false)));
      const done = journal.probe().then(
        () => true,
        () => false,
      );
      writable = Promise.race([done, late]).finally(() => clearTimeout(timer));
    }
    return writable;
  }

  app.get(path, async (_request, reply) => {
    const ok = await probe();
    reply.code(ok ? 200 : 503).headers(API_HEADERS);
    return JSON.stringify({ status: ok ? 'ok' : 'unavailable', version, time: formatTimestamp(clock.now()) });
  });
}
