// Whether the service works, and whether this node takes requests: asked often and by anybody, so that asking costs little.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { API_HEADERS } from '../http/headers.ts';
import type { Journal } from '../journal/journal.ts';
import { type Clock, formatTimestamp, monotonicMs, SECOND_MS } from '../lib/time.ts';

/** How long what writes met, or a probe, speaks for the store: space that comes back is told of within a second. */
const GOOD_FOR_MS = SECOND_MS / 2;
const PROBE_DEADLINE_MS = 2 * SECOND_MS;

export const healthSchema = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  version: z.string(),
  time: z.string().describe('ISO 8601 with a numeric UTC offset.'),
});

const CHECKS = ['store_writable', 'journal_followed', 'accepting_requests'] as const;
type Check = (typeof CHECKS)[number];

export const readinessSchema = z.strictObject({
  ...healthSchema.shape,
  failing: z
    .array(z.enum(CHECKS))
    .describe(
      'What keeps this node from taking requests: its store takes no writes, it does not hear what other nodes do, or it is stopping.',
    ),
});

/** How this node is. One for all the places that tell of it. */
export class Health {
  readonly #journal: Journal;
  readonly #isFollowing: () => boolean;
  readonly #hasRoom: () => Promise<boolean>;
  #stopping = false;
  #probedAt = Number.NEGATIVE_INFINITY;
  #writable: Promise<boolean> = Promise.resolve(false);

  /** `isFollowing`: whether what other nodes do is heard of; `hasRoom`: whether a commit finds room on the store's disk. */
  constructor(journal: Journal, isFollowing: () => boolean, hasRoom: () => Promise<boolean>) {
    this.#journal = journal;
    this.#isFollowing = isFollowing;
    this.#hasRoom = hasRoom;
  }

  /** From now on the node is not ready, whatever else it is. */
  stopping(): void {
    this.#stopping = true;
  }

  /** Whether the store takes writes. */
  async isWritable(): Promise<boolean> {
    const now = monotonicMs();
    const { newest } = this.#journal;
    const isRecent = newest !== undefined && now - newest.at < GOOD_FOR_MS;
    if (isRecent && !newest.stands) return false;
    if (now - this.#probedAt > GOOD_FOR_MS) {
      this.#probedAt = now;
      this.#writable = this.#probe(isRecent); // one serves all who ask until the next
    }
    return this.#writable;
  }

  /**
   * What the newest writes met says that the store takes some; where there were none of late, one that changes nothing is tried.
   * Either may have fitted where the next commit does not: the room for that is looked at beside it.
   */
  async #probe(isWritten: boolean): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, PROBE_DEADLINE_MS, false)));
    const written = isWritten ? true : this.#journal.probe().then(() => true);
    const holds = Promise.all([written, this.#hasRoom()]).then(
      (both) => both.every(Boolean),
      () => false,
    );
    return Promise.race([holds, late]).finally(() => clearTimeout(timer));
  }

  /** What keeps this node from taking requests; nothing when it takes them. */
  async failing(): Promise<Check[]> {
    const holds: Record<Check, boolean> = {
      store_writable: await this.isWritable(),
      journal_followed: this.#isFollowing(),
      accepting_requests: !this.#stopping,
    };
    return CHECKS.filter((check) => !holds[check]);
  }
}

/** Adds `/health` and `/health/ready` below `basePath`. */
export function addHealthRoutes(
  app: FastifyInstance,
  basePath: string,
  { health, clock, version }: { health: Health; clock: Clock; version: string },
): void {
  const told = (ok: boolean) => ({
    status: ok ? 'ok' : 'unavailable',
    version,
    time: formatTimestamp(clock.now()),
  });
  app.get(`${basePath}/health`, async (_request, reply) => {
    const ok = await health.isWritable();
    reply.code(ok ? 200 : 503).headers(API_HEADERS);
    return JSON.stringify(told(ok));
  });
  app.get(`${basePath}/health/ready`, async (_request, reply) => {
    const failing = await health.failing();
    const ok = failing.length === 0;
    reply.code(ok ? 200 : 503).headers(API_HEADERS);
    return JSON.stringify({ ...told(ok), failing });
  });
}
