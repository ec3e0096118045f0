// Whether the service works, and whether this node takes requests. Cheap, because load balancers ask often and without a key.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Journal } from '../journal/journal.ts';
import type { Work } from '../journal/transaction.ts';
import { OperationalError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { type Clock, formatTimestamp, inTime, monotonicMs, SECOND_MS } from '../lib/time.ts';
import { type ApiEndpoint, addEndpoints, described, endpoint, type Surface } from './endpoint.ts';
import { API_HEADERS } from './headers.ts';
import { ALWAYS, type Description, json, ref } from './openapi.ts';

/** Time for which the outcome of a write or probe counts. Free space is noticed within a second. */
const GOOD_FOR_MS = SECOND_MS / 2;
const PROBE_DEADLINE_MS = 2 * SECOND_MS;
/** Time for which a successful rehearsal counts, unless a change fails as a defect. */
const REHEARSED_FOR_MS = 5 * SECOND_MS;
/** Number of consecutive changes that failed as defects, and the age of the last one, which make a node unready. */
const DEFECTS_IN_A_ROW = 3;
const DEFECTS_COUNT_FOR_MS = 10 * SECOND_MS;

const healthSchema = z.strictObject({
  status: z.enum(['ok', 'unavailable']),
  version: z.string(),
  time: z.string().describe('ISO 8601 with a numeric UTC offset.'),
});

const CHECKS = ['store_writable', 'payments_writable', 'journal_followed', 'accepting_requests'] as const;
type Check = (typeof CHECKS)[number];

const readinessSchema = z.strictObject({
  ...healthSchema.shape,
  failing: z
    .array(z.enum(CHECKS))
    .describe(
      'What keeps this node from taking requests: its store takes no writes, no payment can be stored or changed, it does not hear what other nodes do, or it is stopping.',
    ),
});

interface HealthParts {
  journal: Journal;
  /** Whether what other nodes do is heard of. */
  isFollowing: () => boolean;
  /** Whether a commit finds room on the store's disk. */
  hasRoom: () => Promise<boolean>;
  /** What every node must be able to do: it is rehearsed, and rolled back. */
  rehearsal: Work<unknown>;
  log: Pick<Logger, 'info' | 'error'>;
}

/** How a rehearsal ended; `unavailable` where the store takes no writes. */
type Rehearsed = 'well' | 'unavailable' | 'defect';

/** How this node is. One for all the places that tell of it. */
export class Health {
  readonly #parts: HealthParts;
  #stopping = false;
  #probedAt = Number.NEGATIVE_INFINITY;
  #writable: Promise<boolean> = Promise.resolve(false);
  #rehearsedAt = Number.NEGATIVE_INFINITY;
  #rehearsed: Rehearsed = 'well';
  #rehearsing: Promise<Rehearsed> = Promise.resolve('well');

  constructor(parts: HealthParts) {
    this.#parts = parts;
  }

  /** From now on the node is not ready, whatever else it is. */
  stopping(): void {
    this.#stopping = true;
  }

  /** Whether the store takes writes, those of a payment included. */
  async isWell(): Promise<boolean> {
    const [isWritable, rehearsed] = await Promise.all([this.#isWritable(), this.#rehearse()]);
    return isWritable && rehearsed === 'well';
  }

  /** How the newest rehearsal ended. One that is late says nothing: whether the store takes writes is judged beside it. */
  async #rehearse(): Promise<Rehearsed> {
    const now = monotonicMs();
    const isSuspect = this.#rehearsed !== 'well' || this.#parts.journal.defects.at > this.#rehearsedAt;
    if (now - this.#rehearsedAt > (isSuspect ? GOOD_FOR_MS : REHEARSED_FOR_MS)) {
      this.#rehearsedAt = now;
      this.#rehearsing = inTime(PROBE_DEADLINE_MS, this.#runRehearsal(), () => this.#rehearsed);
    }
    return this.#rehearsing;
  }

  async #runRehearsal(): Promise<Rehearsed> {
    const { journal, rehearsal, log } = this.#parts;
    const before = this.#rehearsed;
    try {
      await journal.rehearse(rehearsal, PROBE_DEADLINE_MS);
      if (before === 'defect') log.info('payments can be stored again');
      this.#rehearsed = 'well';
    } catch (error) {
      this.#rehearsed = error instanceof OperationalError ? 'unavailable' : 'defect';
      if (this.#rehearsed === 'defect' && before !== 'defect')
        log.error({ err: error }, 'no payment can be stored: run counterfoil doctor');
    }
    return this.#rehearsed;
  }

  /** Whether changes of late failed as defects, and none stands since. */
  #meetsDefects(): boolean {
    const { inARow, at } = this.#parts.journal.defects;
    return inARow >= DEFECTS_IN_A_ROW && monotonicMs() - at < DEFECTS_COUNT_FOR_MS;
  }

  async #isWritable(): Promise<boolean> {
    const now = monotonicMs();
    const { newest } = this.#parts.journal;
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
    const { journal, hasRoom } = this.#parts;
    const written = isWritten ? true : journal.probe().then(() => true);
    const holds = Promise.all([written, hasRoom()]).then(
      (both) => both.every(Boolean),
      () => false,
    );
    return inTime(PROBE_DEADLINE_MS, holds, () => false);
  }

  /** What keeps this node from taking requests; nothing when it takes them. */
  async failing(): Promise<Check[]> {
    const holds = await this.holds();
    return CHECKS.filter((check) => !holds[check]);
  }

  /** What this node needs to take requests, and whether it has it. */
  async holds(): Promise<Readonly<Record<Check, boolean>>> {
    const [isWritable, rehearsed] = await Promise.all([this.#isWritable(), this.#rehearse()]);
    return {
      store_writable: isWritable && rehearsed !== 'unavailable',
      payments_writable: rehearsed !== 'defect' && !this.#meetsDefects(),
      journal_followed: this.#parts.isFollowing(),
      accepting_requests: !this.#stopping,
    };
  }
}

interface HealthRoutes {
  health: Health;
  clock: Clock;
  version: string;
}

const SURFACE: Surface = {
  prefix: '',
  security: [],
  errors: ALWAYS.filter((code) => code !== 'unavailable'),
  headers: {},
};

const either = (name: string) => json({ anyOf: [ref(name), ref('Error')] });

function healthEndpoints({ health, clock, version }: HealthRoutes): ApiEndpoint[] {
  function answer(reply: FastifyReply, ok: boolean, more: object = {}): string {
    reply.code(ok ? 200 : 503).headers(API_HEADERS);
    const status = ok ? 'ok' : 'unavailable';
    return JSON.stringify({ status, version, time: formatTimestamp(clock.now()), ...more });
  }
  return [
    endpoint('GET /health', {
      id: 'health',
      summary: 'Whether the service works',
      answers: {
        200: { description: 'It works.', body: ['Health', healthSchema] },
        503: { description: 'The store takes no writes.', ...either('Health') },
      },
      errors: [],
      handle: async ({ reply }) => answer(reply, await health.isWell()),
    }),
    endpoint('GET /health/ready', {
      id: 'readiness',
      summary: 'Whether this node takes requests',
      description:
        'For load balancers and orchestrators: `unavailable` also while the node finishes what it has accepted before it stops. A node that has too much to do answers late and is ready: allow 5 seconds.',
      answers: {
        200: { description: 'It takes requests.', body: ['Readiness', readinessSchema] },
        503: {
          description: 'Send requests elsewhere for now; `failing` says why.',
          ...either('Readiness'),
        },
      },
      errors: [],
      async handle({ reply }) {
        const failing = await health.failing();
        return answer(reply, failing.length === 0, { failing });
      },
    }),
  ];
}

/** Adds `/health` and `/health/ready` below `basePath`. */
export function addHealthRoutes(app: FastifyInstance, basePath: string, parts: HealthRoutes): void {
  app.register(async (scope) => addEndpoints(scope, SURFACE, healthEndpoints(parts)), { prefix: basePath });
}

/** What the OpenAPI document says of /health. */
export const healthDescription = (parts: HealthRoutes): Description =>
  described(SURFACE, healthEndpoints(parts));
