// The worker that delivers: each node watches the history and the clock, and sends to the endpoints whose lease it gets.
import { setTimeout as delay } from 'node:timers/promises';
import type { JournalListener } from '../journal/feed.ts';
import type { Journal } from '../journal/journal.ts';
import { newestEntry } from '../journal/queries.ts';
import { endLeases } from '../journal/reading-place.ts';
import { SharedCommits } from '../journal/shared-commits.ts';
import { randomId } from '../lib/ids.ts';
import { type Logger, Outage } from '../lib/log.ts';
import { Rounds } from '../lib/rounds.ts';
import { HOUR_MS, monotonicMs, SECOND_MS } from '../lib/time.ts';
import { tenantsBetween } from '../payments/history-queries.ts';
import { tenantName } from '../payments/queries.ts';
import { type ConfiguredEndpoint, takeOver } from './change.ts';
import type { Sending } from './deliver.ts';
import { DELIVERIES_KEPT_MS, ENDPOINT_ID_PREFIX, type Endpoint, receiverOf } from './endpoint.ts';
import { dueEndpoints, listEndpoints, QUEUES, removeDeliveries } from './queries.ts';
import { failingThrottle, LEASE_MS, replyThrottle, Slots, trialThrottle } from './queue.ts';
import { EndpointSender, type SendingNode } from './sender.ts';

/** Intervals at which the history is read for commits of other nodes, and the store for due deliveries. */
const LOOK_EVERY_MS = 200;
const DUE_EVERY_MS = SECOND_MS;
/** Maximum number of new entries whose tenants are looked up. Beyond it, every endpoint looks for news itself. */
const LOOKED_THROUGH = 2000;
/** Timeout for running attempts at a stop. */
const STOP_MS = 2 * SECOND_MS;

export class WebhookWorker {
  readonly #sending: Sending & { journal: Journal };
  readonly #log: Logger;
  readonly #outage: Outage;
  readonly #node: SendingNode;
  readonly #stopping = new AbortController();
  #ending = false;
  #hasBegun = false;
  /** The endpoints of the configuration file; undefined once the store has them. */
  #configured: readonly ConfiguredEndpoint[] | undefined;
  #endpoints: ReadonlyMap<string, Endpoint> = new Map();
  /** The newest entry whose tenant is known. */
  #seen: number | undefined;
  readonly #senders = new Map<string, { sender: EndpointSender; end: Promise<void> }>();
  /** Endpoints whose last sender could not write. */
  readonly #failing = new Set<string>();
  #isSuspended: (merchantId: string) => boolean = () => false;
  #dueLookedAt = Number.NEGATIVE_INFINITY;
  #removedAt = Number.NEGATIVE_INFINITY;
  readonly #rounds = new Rounds(() => this.#look(), LOOK_EVERY_MS);

  constructor(sending: Sending & { journal: Journal }, log: Logger) {
    this.#sending = sending;
    this.#log = log;
    this.#outage = new Outage({
      log,
      fails: 'webhooks cannot be delivered for now; it is tried again',
      works: 'webhooks are delivered again',
    });
    this.#node = {
      id: randomId('node_'),
      commits: new SharedCommits(sending.journal),
      signal: this.#stopping.signal,
      log,
      news: new Set(),
      isCurrent: (endpoint) =>
        !this.#ending &&
        this.#endpoints.get(endpoint.id) === endpoint &&
        !this.#isSuspended(endpoint.merchant_id),
      slots: new Slots(),
      trials: sending.hasTrials ? trialThrottle(sending.clock) : undefined,
      failing: failingThrottle(sending.clock),
      replies: replyThrottle(sending.clock),
      counters: { delivered: 0, retrying: 0, failed: 0 },
    };
  }

  /** Attempts of this node that were made, by the status of their delivery after them. */
  get counters(): Readonly<SendingNode['counters']> {
    return this.#node.counters;
  }

  /** Whether this node cannot deliver for now, whatever the receivers do: the store does not take or give what that needs. */
  get isHeldUp(): boolean {
    return this.#outage.lasts;
  }

  /** For `followJournal`: which endpoints there are, whichever node changed them. */
  listener(): JournalListener {
    const load = async () => {
      const enabled = (await listEndpoints(this.#sending.database)).filter((one) => one.disabled_at === null);
      const left = new Map(this.#endpoints);
      const known = enabled.map((endpoint): [string, Endpoint] => {
        const before = this.#endpoints.get(endpoint.id);
        if (before?.version !== endpoint.version) this.#node.news.add(endpoint.id);
        else left.delete(endpoint.id);
        return [endpoint.id, before?.version === endpoint.version ? before : endpoint];
      });
      this.#endpoints = new Map(known);
      // What one of them left undone is sent by the others.
      const targets = new Set([...left.values()].map(receiverOf));
      for (const one of targets.size > 0 ? this.#endpoints.values() : [])
        if (targets.has(receiverOf(one))) this.#node.news.add(one.id);
      for (const { sender } of this.#senders.values()) sender.wake();
    };
    return { prefix: ENDPOINT_ID_PREFIX, load, hear: load };
  }

  /** Has the store take over the endpoints of the configuration file as soon as it takes writes. */
  configure(endpoints: readonly ConfiguredEndpoint[]): void {
    this.#configured = endpoints;
  }

  async #takeOver(): Promise<void> {
    const configured = this.#configured;
    if (!configured) return;
    await takeOver(this.#sending, configured, this.#log);
    if (this.#configured === configured) this.#configured = undefined;
  }

  /** Begins to look, until stopped. Nothing is sent to a merchant while `isSuspended` says so of its id: its events wait. */
  start(isSuspended: (merchantId: string) => boolean): void {
    this.#isSuspended = isSuspended;
    this.#rounds.start();
  }

  /** On SQLite one node serves a store, so the leases that a start finds are those of a node that was killed. */
  async #endOldLeases(): Promise<void> {
    const { database, journal } = this.#sending;
    if (database.engine === 'postgres' || this.#hasBegun) return;
    await journal.commitAside((transaction) => {
      transaction.glance();
      return endLeases(transaction, QUEUES);
    });
    this.#hasBegun = true;
  }

  /** Looks soon: something was committed. Further commits do not put the look off. */
  wake(): void {
    if (this.#endpoints.size > 0) this.#rounds.wake();
  }

  /** Begins no more attempts, and waits up to two seconds for those that run. What is not finished then is sent again by the next node. */
  async stop(): Promise<void> {
    this.#ending = true;
    await this.#rounds.stop();
    const senders = [...this.#senders.values()];
    for (const { sender } of senders) sender.wake();
    const ended = Promise.all(senders.map(({ end }) => end));
    const patience = new AbortController();
    await Promise.race([ended, delay(STOP_MS, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    this.#stopping.abort();
    await ended;
  }

  async #look(): Promise<void> {
    try {
      await this.#round();
      if (![...this.#failing].some((id) => this.#endpoints.has(id))) this.#outage.ends();
    } catch (error) {
      this.#outage.begins(error);
    }
  }

  async #round(): Promise<void> {
    await this.#takeOver();
    if (this.#endpoints.size > 0) await this.#endOldLeases();
    if (this.#endpoints.size > 0) await this.#findNews();
    if (monotonicMs() - this.#dueLookedAt > DUE_EVERY_MS) {
      this.#dueLookedAt = monotonicMs();
      const { database, clock } = this.#sending;
      const due = this.#endpoints.size > 0 ? await dueEndpoints(database, clock.now(), LEASE_MS) : [];
      for (const { id } of due) this.#send(id);
      for (const id of this.#node.news) this.#send(id);
      for (const { sender } of this.#senders.values()) sender.wake();
    }
    if (monotonicMs() - this.#removedAt > HOUR_MS) await this.#removeOld();
  }

  /** Sends to the endpoints of those tenants that new entries are about. */
  async #findNews(): Promise<void> {
    const { database } = this.#sending;
    const newest = await newestEntry(database);
    const seen = this.#seen ?? Number.NEGATIVE_INFINITY;
    if (newest === seen) return;
    const isFar = newest - seen > LOOKED_THROUGH || newest < seen;
    const tenants = isFar
      ? undefined
      : new Set((await tenantsBetween(database, seen, newest)).map(tenantName));
    this.#seen = newest;
    for (const endpoint of this.#endpoints.values()) {
      if (tenants && !tenants.has(tenantName(endpoint))) continue;
      this.#node.news.add(endpoint.id);
      this.#send(endpoint.id);
    }
  }

  async #removeOld(): Promise<void> {
    this.#removedAt = monotonicMs();
    const { journal } = this.#sending;
    const remove = () =>
      journal.commitAside((transaction) => {
        transaction.glance();
        return removeDeliveries(transaction, transaction.now - DELIVERIES_KEPT_MS);
      });
    while (!this.#ending && (await remove()) > 0) {}
  }

  #send(id: string): void {
    const running = this.#senders.get(id);
    const endpoint = this.#endpoints.get(id);
    running?.sender.wake();
    if (!endpoint) this.#node.news.delete(id);
    if (running || !endpoint || !this.#node.isCurrent(endpoint)) return;
    const sender = new EndpointSender(this.#sending, endpoint, this.#node);
    const end = sender
      .run()
      .then(
        () => void this.#failing.delete(id),
        (error) => {
          this.#failing.add(id);
          this.#outage.begins(error);
        },
      )
      .finally(() => {
        this.#senders.delete(id);
        if (sender.isAwake) this.#send(id); // there were new events while it ended
      });
    this.#senders.set(id, { sender, end });
  }
}
