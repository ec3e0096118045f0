// Starts what changes the store: the journal, what works without being asked, and what is counted in memory and written later.
import { FailureTally, startFailureTally } from '../administrators/failures.ts';
import type { Cost } from '../administrators/password.ts';
import type { Seal } from '../journal/audit-entry.ts';
import { startCheckpoints } from '../journal/checkpoint-signer.ts';
import { Feed, followJournal } from '../journal/feed.ts';
import { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { ringListener } from '../journal/keys/open-ring.ts';
import { type Fence, SealKeeper } from '../journal/known-seal.ts';
import type { Logger } from '../lib/log.ts';
import type { Clock } from '../lib/time.ts';
import type { Directory } from '../merchants/directory.ts';
import { directoryListeners } from '../merchants/follow.ts';
import { KeyUses, startKeyUses } from '../merchants/key-uses.ts';
import { EventStreams, type StreamPace } from '../payments/events/streams.ts';
import { startSweeper } from '../payments/expire.ts';
import { startListing } from '../payments/history.ts';
import { PAYMENT_ID_PREFIX } from '../payments/payment.ts';
import { Waits } from '../payments/waits.ts';
import { startForgetting } from '../statements/erase.ts';
import { startFolder } from '../statements/folder.ts';
import type { Database } from '../store/database.ts';
import { WebhookWorker } from '../webhooks/worker.ts';
import type { Configuration } from './config.ts';
import type { Measurements } from './measurements.ts';
import { webhookRules } from './settings/merchants.ts';

/** How long the service waits, in milliseconds, and what its hashes cost, where a test has it otherwise. */
export interface Pace extends Partial<StreamPace> {
  /** From a request, and from handing a change in, to the answer. */
  answerMs?: number;
  passwordCost?: Cost;
}

interface WorkParts {
  log: Logger;
  clock: Clock;
  largestBatch?: number;
  pace?: Pace;
}

/** What all that is begun here is built on. */
export interface Base {
  configuration: Configuration;
  database: Database;
  ring: KeyRing;
  fence: Fence;
  measurements: Measurements | undefined;
  undo: Undo;
}

/** Starts what changes the store: the journal, and those that work without being asked. Webhooks wait for `startFollowing`. */
export function startWork(base: Base, parts: WorkParts) {
  const { configuration, database, ring, fence, measurements, undo } = base;
  const { log, clock } = parts;
  const { storage } = configuration;
  const keeper = undo.stopping(new SealKeeper(storage, clock, log));
  const woken: (() => void)[] = [];
  const onSeal = (seal: Seal) => {
    fence.know(seal);
    keeper.know(seal);
    feed.know(seal);
    webhooks.wake();
    for (const wake of woken) wake();
  };
  const journal = new Journal(database, clock, {
    ...{ ...parts, ...parts.pace },
    ...{ onSeal, onCommit: measurements?.committed, timeZone: configuration.time_zone },
  });
  const feed = new Feed({ database, journal, prefix: PAYMENT_ID_PREFIX, log });
  const checkpoints = undo.stopping(startCheckpoints(storage, database, journal, clock, log, onSeal));
  undo.add(() => journal.close());
  undo.add(() => feed.stop());
  const sweeper = undo.stopping(startSweeper(journal, clock, log));
  const { statements, methods, nodes } = configuration;
  if (statements.folder !== null) {
    undo.stopping(
      startFolder({
        ...{ folder: statements.folder, methods, journal, database, clock, log },
        isShared: nodes > 1,
      }),
    );
  }
  undo.stopping(startForgetting(journal, clock, log, statements.keep_days));
  undo.stopping(startListing(database, journal, log));
  const rules = webhookRules(configuration);
  const hasTrials = configuration.environment === 'production';
  const webhooks = new WebhookWorker({ database, journal, clock, ring, rules, hasTrials }, log);
  const told = { feed, streams: new EventStreams(database, feed, parts.pace), waits: new Waits(feed) };
  return { journal, webhooks, checkpoints, sweeper, woken, ...told };
}

/** Follows the journal of all nodes from now on, and begins to deliver webhooks. Throws `DatabaseError`. */
export async function startFollowing(
  { configuration, database, ring, undo }: Base,
  { directory, webhooks }: { directory: Directory; webhooks: WebhookWorker },
  { clock, log }: WorkParts,
) {
  const listeners = [...directoryListeners(database, directory, clock), ringListener(database, ring)];
  const follower = undo.stopping(await followJournal(database, [...listeners, webhooks.listener()], log));
  webhooks.configure(configuration.endpoints);
  webhooks.start((merchantId) => directory.isSuspended(merchantId));
  undo.add(() => webhooks.stop());
  return follower;
}

/** Starts what is counted in memory and written from time to time: the last use of keys, and failed sign-ins. */
export function startCounters(journal: Journal, { clock, log }: WorkParts, undo: Undo) {
  const keyUses = new KeyUses(journal);
  undo.stopping(startKeyUses(keyUses, log));
  const tally = new FailureTally(journal, clock);
  undo.stopping(startFailureTally(tally, log));
  return { keyUses, tally };
}

/** What a start has begun, to be ended in reverse: at the stop, or where the start itself fails. */
export class Undo {
  readonly #steps: (() => unknown)[] = [];
  readonly #log: Pick<Logger, 'error'>;

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** Adds a step, which comes before those that were added before it. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Adds the stop of a thing, and returns it. */
  stopping<T extends { stop(): unknown }>(thing: T): T {
    this.add(() => thing.stop());
    return thing;
  }

  /** Takes all steps, each once, one after the other. Throws nothing: what a step throws is logged. */
  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        this.#log.error({ err: error }, 'a step of the stop failed'); // the others are owed theirs
      }
    }
  }
}
