// An endpoint's queue: one node at a time has its lease, turns new events into deliveries, and moves the queue on in the same commit.
import { entriesAbout } from '../journal/queries.ts';
import { Lease } from '../journal/reading-place.ts';
import type { SharedCommits } from '../journal/shared-commits.ts';
import type { Transaction, Work } from '../journal/transaction.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { type Clock, DAY_MS, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import type { PaymentEvent } from '../payments/events/event.ts';
import { listEvents, type Position, toldOfPayments } from '../payments/events/list.ts';
import type { Database, Reader } from '../store/database.ts';
import { Throttle } from '../web/rate-limit.ts';
import { DELIVERY_ID_PREFIX, type Delivery, type Endpoint, hostOf, type Queue, takes } from './endpoint.ts';
import {
  addDeliveries,
  dueDeliveries,
  findQueue,
  numbersQueued,
  othersWithUrl,
  QUEUES,
  queuesOf,
} from './queries.ts';

/** A node that died is replaced after this, and the second between two looks. */
export const LEASE_MS = 24 * SECOND_MS;
/** An attempt begins only while the lease lasts longer than the attempt can. */
const ATTEMPT_MS = 16 * SECOND_MS;
/** Events that one commit queues. */
const QUEUED_AT_ONCE = 100;

export class EndpointQueue {
  readonly #database: Database;
  readonly #commits: SharedCommits;
  readonly #endpoint: Endpoint;
  readonly #lease: Lease<Queue>;
  /** The number of the last entry that was queued or passed over. */
  #number: number | undefined;
  /** Attempts that failed in a row, as far as this node knows; 2 stands for more. */
  failures = 0;
  /** The URL that last answered with success, as far as this node knows; null if none did. */
  answeredUrl: string | null = null;

  constructor(database: Database, commits: SharedCommits, endpoint: Endpoint, node: string) {
    this.#database = database;
    this.#commits = commits;
    this.#endpoint = endpoint;
    const { id } = endpoint;
    const commit = <T>(work: Work<T>) => commits.commit(work, id);
    this.#lease = new Lease({ table: QUEUES, id, node, leaseMs: LEASE_MS, commit });
  }

  /** Whether an attempt may begin without a renewal of the lease. */
  get isHeld(): boolean {
    return this.#lease.leftMs > ATTEMPT_MS;
  }

  /** Takes or renews the lease. Returns false if another node has it. Throws as the journal does. */
  async lease(): Promise<boolean> {
    const queue = await this.#lease.take();
    if (queue) {
      this.#number = queue.number;
      this.failures = queue.failing_since === null ? 0 : 2;
      this.answeredUrl = queue.answered_url;
    }
    return queue !== undefined;
  }

  /** Whether the history tells of something that is not queued yet. Throws `OperationalError` and `DatabaseError`. */
  async hasNews(): Promise<boolean> {
    const queue = await findQueue(this.#database, this.#endpoint.id);
    return queue !== undefined && (await this.#read(queue.number, 1)).end?.number !== queue.number;
  }

  /** Whether another node has the lease at `now`, in milliseconds since 1970. */
  async isOthers(now: number): Promise<boolean> {
    const queue = await findQueue(this.#database, this.#endpoint.id);
    return queue !== undefined && this.#lease.isOthers(queue, now);
  }

  /**
   * Queues the next events that the endpoint takes. Returns how many, and whether there may be more. A queue that was moved
   * meanwhile (its merchant wants what is missing) is read anew. Throws as the journal does.
   */
  async queueNext(): Promise<{ queued: number; hasMore: boolean }> {
    const number = this.#number!;
    const { events, has_more, end } = await this.#read(number, QUEUED_AT_ONCE);
    if (!end || end.number === number) return { queued: 0, hasMore: false };
    const last = events.at(-1);
    const moved = await this.#commits.commit(async (transaction) => {
      const { now } = transaction;
      // On PostgreSQL, what was read may be gone after a failover.
      if (last && !(await isThere(transaction, last))) return false;
      if (!(await this.#lease.advance(transaction, { from: number, to: end.number }))) return false;
      const isOthers = await sentByOthers(transaction, this.#endpoint, number, end.number);
      const taken = events.filter((one) => takes(this.#endpoint, one.event.type) && !isOthers(one));
      const rows = taken.map(
        ({ event, number }): Delivery => ({
          id: timeOrderedId(DELIVERY_ID_PREFIX, now),
          endpoint_id: this.#endpoint.id,
          event_id: event.id,
          type: event.type,
          payment_id: event.payment.id,
          number,
          status: 'pending',
          created_at: now,
          due_at: now,
          attempts: 0,
          tries: 0,
        }),
      );
      await addDeliveries(transaction, rows);
      return { queued: rows.length, hasMore: has_more };
    }, this.#endpoint.id);
    if (moved) this.#number = end.number;
    else await this.lease();
    return moved || { queued: 0, hasMore: true };
  }

  /** Gives the lease back. Throws as the journal does. */
  release(): Promise<void> {
    return this.#lease.release();
  }

  #read(number: number, limit: number) {
    const { merchant_id, mode } = this.#endpoint;
    return listEvents(this.#database, { merchant_id, mode }, {}, { number, id: '' }, limit);
  }
}

/**
 * Which events from entry `after` to entry `to` are sent by an older endpoint with the same URL: it has queued them, or comes to them
 * later. Each event is sent once to a URL, however many endpoints name it.
 */
async function sentByOthers(
  transaction: Transaction,
  endpoint: Endpoint,
  after: number,
  to: number,
): Promise<(one: Position & { event: PaymentEvent }) => boolean> {
  const isOlder = (other: Endpoint) =>
    other.created_at < endpoint.created_at ||
    (other.created_at === endpoint.created_at && other.id < endpoint.id);
  const older = (await othersWithUrl(transaction, endpoint)).filter(isOlder);
  const queues = await queuesOf(
    transaction,
    older.map(({ id }) => id),
  );
  const checks = await Promise.all(
    older.map(async (other) => {
      const at = queues.find(({ endpoint_id }) => endpoint_id === other.id)?.number ?? 0;
      const queued = await numbersQueued(transaction, other, after, to);
      return ({ event, number }: Position & { event: PaymentEvent }) =>
        takes(other, event.type) && (number > at || queued.has(number));
    }),
  );
  return (one) => checks.some((isSent) => isSent(one));
}

/** Whether the entry that an event was read from is in the history. */
async function isThere(
  database: Reader,
  { number, event }: Position & { event: PaymentEvent },
): Promise<boolean> {
  return (await entriesAbout(database, event.payment.id, number - 1, number, 1)).length > 0;
}

/** Attempts that run on a node. */
const OF_ALL = 512;
/**
 * The part of the free slots that one merchant, and one host, may hold. However many of them hold all they may, slots are left: 8 hold
 * 42 each of 512 and leave 170, 100 hold 4 each and leave 19.
 */
const SHARE = 1 / 4;

export class Slots {
  #running = 0;
  readonly #held = new Map<string, number>();
  /** Senders that wait for a slot, the longest waiting first. */
  readonly #waiting = new Map<Endpoint, () => void>();

  /** Takes up to `wanted` slots for an endpoint. Returns how many. If that is 0, `wake` is called when there may be one. */
  take(endpoint: Endpoint, wanted: number, wake: () => void): number {
    const taken = Math.max(0, Math.min(wanted, this.#room(endpoint)));
    if (taken > 0) this.#add(endpoint, taken);
    if (taken > 0 || wanted <= 0) this.#waiting.delete(endpoint);
    else this.#waiting.set(endpoint, wake);
    return taken;
  }

  release(endpoint: Endpoint, count: number): void {
    if (count === 0) return;
    this.#add(endpoint, -count);
    for (const [waiting, wake] of this.#waiting) {
      if (this.#room(waiting) <= 0) continue;
      this.#waiting.delete(waiting);
      wake();
      return;
    }
  }

  /** An endpoint waits no more. */
  forget(endpoint: Endpoint): void {
    this.#waiting.delete(endpoint);
  }

  #room(endpoint: Endpoint): number {
    const free = OF_ALL - this.#running;
    const most = Math.max(1, Math.floor(free * SHARE));
    const rooms = holdersOf(endpoint).map((holder) => most - (this.#held.get(holder) ?? 0));
    return Math.min(free, ...rooms);
  }

  #add(endpoint: Endpoint, count: number): void {
    this.#running += count;
    for (const holder of holdersOf(endpoint)) {
      const held = (this.#held.get(holder) ?? 0) + count;
      if (held === 0) this.#held.delete(holder);
      else this.#held.set(holder, held);
    }
  }
}

const holdersOf = (endpoint: Endpoint) => [endpoint.merchant_id, hostOf(endpoint)];

/** Attempts a minute of one merchant at one host, before the host has taken a webhook of the endpoint. */
export const TRIALS_A_MINUTE = 6;
/** Attempts a second at receivers that failed twice in a row: of one merchant at one host, and of one merchant. */
const FAILING_A_SECOND = { ofHost: 1, ofMerchant: 4 };
/** Test events a minute that one merchant may send to one host. */
export const TESTS_A_MINUTE = 20;
/** Replies of 4 KiB at most that are stored of one merchant, a day. They are kept for 30 days: up to 60 MB. */
export const STORED_REPLIES_A_DAY = 500;

const ofMerchantAndHost = (maximum: number) => [
  { nameOf: (endpoint: Endpoint) => `${endpoint.merchant_id} ${hostOf(endpoint)}`, maximum },
];

export const trialThrottle = (clock: Clock) =>
  new Throttle<Endpoint>(clock, MINUTE_MS, ofMerchantAndHost(TRIALS_A_MINUTE));

export const failingThrottle = (clock: Clock) =>
  new Throttle<Endpoint>(clock, SECOND_MS, [
    ...ofMerchantAndHost(FAILING_A_SECOND.ofHost),
    { nameOf: ({ merchant_id }) => merchant_id, maximum: FAILING_A_SECOND.ofMerchant },
  ]);

export const testThrottle = (clock: Clock) =>
  new Throttle<Endpoint>(clock, MINUTE_MS, ofMerchantAndHost(TESTS_A_MINUTE));

/** What is stored of a reply: null where the merchant has had as many as a day may have. */
export function storedReply(
  replies: Throttle<Endpoint>,
  endpoint: Endpoint,
  reply: string | null,
): string | null {
  return reply && replies.count(endpoint) > 0 ? null : reply;
}

export const replyThrottle = (clock: Clock) =>
  new Throttle<Endpoint>(clock, DAY_MS, [
    { nameOf: ({ merchant_id }) => merchant_id, maximum: STORED_REPLIES_A_DAY },
  ]);

/** Deliveries that are read at once. A read after a commit costs about as much for one as for many. */
const READ_AT_ONCE = 64;

export interface DueDelivery {
  delivery: Delivery;
  /** Undefined if the history does not tell it any more. */
  event: PaymentEvent | undefined;
  /** Enabled endpoints that have the URL too: their secrets sign along. */
  others: readonly Endpoint[];
}

interface Store {
  database: Reader;
  clock: Clock;
}

export class DueDeliveries {
  readonly #store: Store;
  readonly #endpoint: Endpoint;
  #read: DueDelivery[] = [];
  /** Deliveries that were queued and not read yet, as far as is known. */
  #unread = 0;

  constructor(store: Store, endpoint: Endpoint) {
    this.#store = store;
    this.#endpoint = endpoint;
  }

  get waiting(): number {
    return this.#read.length + this.#unread;
  }

  queued(count: number): void {
    this.#unread += count;
  }

  /** Forgets what was read: another node may have sent it. */
  clear(): void {
    this.#read = [];
  }

  /**
   * Takes up to `limit` deliveries, the longest due first, without those of `but`. With `isCareful` none is read ahead. Throws
   * `DatabaseError` and `HistoryBroken`.
   */
  async take(limit: number, but: readonly string[], isCareful: boolean): Promise<DueDelivery[]> {
    const taken = this.#read.splice(0, limit);
    const left = limit - taken.length;
    if (left === 0) return taken;
    const ids = [...but, ...taken.map(({ delivery }) => delivery.id)];
    this.#read = await this.#readDue(isCareful ? left : READ_AT_ONCE, ids);
    return [...taken, ...this.#read.splice(0, left)];
  }

  async #readDue(count: number, but: readonly string[]): Promise<DueDelivery[]> {
    const { database, clock } = this.#store;
    const { id, merchant_id, mode } = this.#endpoint;
    const due = await dueDeliveries(database, id, clock.now(), but, count);
    this.#unread = due.length < count ? 0 : Math.max(0, this.#unread - due.length);
    const payments = [...new Set(due.map(({ payment_id }) => payment_id))];
    const told = await toldOfPayments(
      database,
      payments,
      (payment) => payment.merchant_id === merchant_id && payment.mode === mode,
    );
    const others = due.length === 0 ? [] : await othersWithUrl(database, this.#endpoint);
    return due.map((delivery) => ({
      delivery,
      others,
      event: told.get(delivery.payment_id)?.find(({ number }) => number === delivery.number)?.event,
    }));
  }
}
