// Sends to one endpoint while there is something to do: queues its events and sends what is due, a few deliveries at once.
import { isAsRecorded } from '../journal/record-row.ts';
import type { SharedCommits } from '../journal/shared-commits.ts';
import type { Logger } from '../lib/log.ts';
import type { Throttle } from '../web/rate-limit.ts';
import type { AttemptOutcome } from './attempt.ts';
import { type AttemptNoted, attempt, noteAttempted, type Sending } from './deliver.ts';
import { type Delivery, ENDPOINTS, type Endpoint } from './endpoint.ts';
import { dueDeliveries, findEndpoint } from './queries.ts';
import { DueDeliveries, type DueDelivery, EndpointQueue, type Slots, storedReply } from './queue.ts';

/** Attempts at once: of one endpoint, and of one that fails or never answered with success. */
const OF_ONE = 4;
const OF_A_FAILING_ONE = 1;
/** Due deliveries of one endpoint beyond which no more events are queued. Later ones wait in the history, where they cost nothing. */
const AHEAD = 1000;
/** Attempts of one endpoint that run or are not written down yet. As many may come twice if the node is killed. */
const NOT_NOTED = 8;

/** What the senders of a node share. */
export interface SendingNode {
  /** Names the holder of leases. Another one at each start. */
  id: string;
  commits: SharedCommits;
  /** Aborts attempts. */
  signal: AbortSignal;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Ids of endpoints that may have events which are not queued. */
  news: Set<string>;
  /** Whether an endpoint is enabled, unchanged, and the node does not stop. */
  isCurrent(endpoint: Endpoint): boolean;
  slots: Slots;
  /** Attempts at endpoints that never answered with success; undefined where they are not limited. */
  trials: Throttle<Endpoint> | undefined;
  /** Attempts at endpoints that failed twice in a row. */
  failing: Throttle<Endpoint>;
  replies: Throttle<Endpoint>;
  /** Attempts that were made, by the status of their delivery after them. */
  counters: Record<AttemptNoted['status'], number>;
}

export class EndpointSender {
  readonly #sending: Sending;
  readonly #endpoint: Endpoint;
  readonly #node: SendingNode;
  readonly #queue: EndpointQueue;
  /** Attempts that run or are not written down yet, by the delivery's id. */
  readonly #attempts = new Map<string, Promise<void>>();
  #running = 0;
  readonly #due: DueDeliveries;
  /** Runs while new events are queued. */
  #queueing: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;
  #isAwake = false;
  #onWake: (() => void) | undefined;

  constructor(sending: Sending, endpoint: Endpoint, node: SendingNode) {
    this.#sending = sending;
    this.#endpoint = endpoint;
    this.#node = node;
    this.#due = new DueDeliveries(sending, endpoint);
    this.#queue = new EndpointQueue(sending.database, node.commits, endpoint, node.id);
  }

  /** Whether it was woken since its last look. */
  get isAwake(): boolean {
    return this.#isAwake;
  }

  /** Has it look again: there are new events, deliveries may be due, or it is to end. */
  readonly wake = (): void => {
    this.#isAwake = true;
    this.#onWake?.();
  };

  /** Resolves when nothing is left to do. Rejects if the store takes no writes: then no further attempt has begun. */
  async run(): Promise<void> {
    try {
      if (await this.#mayBegin()) await this.#send();
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#node.slots.forget(this.#endpoint);
    await this.#queueing;
    await Promise.all(this.#attempts.values());
    await this.#queue.release().catch((error) => (this.#failure ??= { error }));
    if (this.#failure) throw this.#failure.error;
  }

  /** Whether there is something to do, the lease is free, and the endpoint is as the history says. Takes the lease if so. */
  async #mayBegin(): Promise<boolean> {
    const { id } = this.#endpoint;
    const { news, log } = this.#node;
    const { database, clock } = this.#sending;
    if (news.has(id) && !(await this.#queue.hasNews())) news.delete(id);
    const hasWork = news.has(id) || (await dueDeliveries(database, id, clock.now(), [], 1)).length > 0;
    if (!hasWork || (await this.#queue.isOthers(clock.now()))) return false;
    if (await isAsRecorded(database, ENDPOINTS, this.#endpoint)) return this.#queue.lease();
    // It was changed a moment ago, and the worker has not heard of it yet.
    if ((await findEndpoint(database, id))?.version !== this.#endpoint.version) return false;
    news.delete(id);
    log.warn({ endpoint: id }, 'a webhook endpoint was changed in the store itself: nothing is sent to it');
    return false;
  }

  async #send(): Promise<void> {
    const { id } = this.#endpoint;
    while (this.#isOn) {
      // Its lease is not renewed meanwhile: each renewal is a commit.
      if (this.#attempts.size === 0 && this.#isHeldBack) {
        await this.#sleep();
        continue;
      }
      if (!this.#queue.isHeld && !(await this.#lease())) return;
      if (this.#node.news.has(id) && this.#due.waiting < AHEAD)
        this.#queueing ??= this.#queueNews().finally(() => {
          this.#queueing = undefined;
          this.wake();
        });
      const room = await this.#beginDue();
      const isIdle = this.#attempts.size === 0 && room > 0 && !this.#queueing;
      if (isIdle && !this.#node.news.has(id)) return;
      if (!isIdle) await this.#sleep();
    }
  }

  /** Begins attempts of what is due, as many as may run. Returns how many might have begun. */
  async #beginDue(): Promise<number> {
    const { slots } = this.#node;
    const isCareful = this.#queue.failures > 0 || this.#isOnTrial;
    const width = isCareful ? OF_A_FAILING_ONE : OF_ONE;
    const wanted = Math.min(width - this.#running, NOT_NOTED - this.#attempts.size);
    const room = slots.take(this.#endpoint, this.#isHeldBack ? 0 : wanted, this.wake);
    let begun = 0;
    try {
      const due = room > 0 ? await this.#due.take(room, [...this.#attempts.keys()], isCareful) : [];
      for (const one of this.#isOn ? due : []) {
        // Senders that share a host looked at its pace at once.
        if ((this.#pace?.count(this.#endpoint) ?? 0) > 0) break;
        begun += 1;
        this.#begin(one);
      }
    } finally {
      slots.release(this.#endpoint, room - begun);
    }
    return room;
  }

  /** Whether the endpoint's URL has never answered with success, where that counts. */
  get #isOnTrial(): boolean {
    return this.#node.trials !== undefined && this.#queue.answeredUrl !== this.#endpoint.url;
  }

  /** What bounds its attempts: on trial, or where it failed twice in a row. Flaky receivers are not slowed down. */
  get #pace(): Throttle<Endpoint> | undefined {
    if (this.#isOnTrial) return this.#node.trials;
    return this.#queue.failures > 1 ? this.#node.failing : undefined;
  }

  /** Whether as many attempts were made as its pace allows by now. What is due waits. */
  get #isHeldBack(): boolean {
    return (this.#pace?.waitMs(this.#endpoint) ?? 0) > 0;
  }

  /** Queues what is new while deliveries are sent. */
  async #queueNews(): Promise<void> {
    const { news } = this.#node;
    const { id } = this.#endpoint;
    try {
      while (this.#isOn && this.#queue.isHeld && this.#due.waiting < AHEAD && news.delete(id)) {
        const { queued, hasMore } = await this.#queue.queueNext();
        this.#due.queued(queued);
        if (hasMore) news.add(id);
        this.wake();
      }
    } catch (error) {
      news.add(id); // or it would wait for the next event
      this.#failure ??= { error };
    }
  }

  get #isOn(): boolean {
    return !this.#failure && this.#node.isCurrent(this.#endpoint);
  }

  /** Renews the lease. What was read ahead is read again, because the lease may have been another node's meanwhile. */
  #lease(): Promise<boolean> {
    this.#due.clear();
    return this.#queue.lease();
  }

  #begin(due: DueDelivery): void {
    const { id } = due.delivery;
    const done = this.#attempt(due)
      .catch((error) => {
        if (!this.#node.signal.aborted) this.#failure ??= { error };
      })
      .finally(() => {
        this.#attempts.delete(id);
        this.wake();
      });
    this.#attempts.set(id, done);
  }

  async #attempt(due: DueDelivery): Promise<void> {
    const { commits, counters, signal, slots, replies } = this.#node;
    const { delivery } = due;
    const endpoint = this.#endpoint;
    this.#running += 1;
    const { outcome, at } = await attempt(this.#sending, endpoint, due, signal).finally(() => {
      this.#running -= 1;
      slots.release(endpoint, 1);
    });
    outcome.reply = storedReply(replies, endpoint, outcome.reply);
    this.#queue.failures = outcome.ok ? 0 : Math.min(2, this.#queue.failures + 1);
    if (outcome.ok) this.#queue.answeredUrl = endpoint.url;
    this.wake();
    const noted = await commits.commit(
      (transaction) => noteAttempted(transaction, endpoint, delivery, { outcome, at }),
      endpoint.id,
    );
    counters[noted.status] += 1;
    logAttempt(this.#node.log, endpoint, delivery, outcome, noted);
  }

  async #sleep(): Promise<void> {
    if (!this.#isAwake) await new Promise<void>((resolve) => (this.#onWake = resolve));
    this.#isAwake = false;
    this.#onWake = undefined;
  }
}

const DISABLED_BECAUSE: Record<NonNullable<AttemptNoted['disabled']>, string> = {
  gone: 'Its server answered 410, gone',
  failing: 'No attempt succeeded for 5 days',
};

/** Logs an attempt: one that succeeded for debugging alone, and one that failed with what it led to. */
export function logAttempt(
  log: Pick<Logger, 'debug' | 'info' | 'warn'>,
  { url, merchant_id: merchant }: Endpoint,
  { id: delivery, endpoint_id: endpoint, event_id: event, type, attempts }: Delivery,
  { ok, status, ms, reason }: AttemptOutcome,
  { disabled }: AttemptNoted,
): void {
  const about = {
    ...{ merchant, endpoint, delivery, event, type, attempt: attempts + 1, status },
    ms: Math.round(ms),
  };
  if (ok) log.debug(about, 'a webhook was delivered');
  else log.info({ ...about, reason: withoutHost(reason, url) }, 'a webhook was not delivered');
  if (disabled) log.warn({ ...about, reason: DISABLED_BECAUSE[disabled] }, 'a webhook endpoint was disabled');
}

/** A reason without the name of the merchant's server. */
function withoutHost(reason: string, url: string): string {
  const { host, hostname } = new URL(url);
  return reason.replaceAll(host, '…').replaceAll(hostname, '…');
}
