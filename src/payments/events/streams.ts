// The event streams that are open on this node: each is sent what it missed, then each event as it happens.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AuditEntry } from '../../journal/audit-entry.ts';
import type { Feed, FeedListener } from '../../journal/feed.ts';
import { OperationalError, unavailable } from '../../lib/errors.ts';
import { monotonicMs, SECOND_MS } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import { type Tenant, tenantName } from '../queries.ts';
import { BEGINNING, type PaymentEvent, presentEvent } from './event.ts';
import { type EventFilter, listEvents, type Position, positionAt, tellOf } from './list.ts';

/** Streams of one merchant in one mode that one node serves. */
export const STREAMS_MAXIMUM = 100;
/** How soon a client that lost its connection should come back. */
const RETRY_MS = SECOND_MS;
/** The intervals and timeouts of event streams. */
export interface StreamPace {
  /** A comment is sent after this long without an event, so that no proxy takes the connection for dead. */
  heartbeatMs: number;
  /** A stream whose buffers are full is dropped if its client takes nothing for this long. */
  stalledMs: number;
}
const PACE: StreamPace = { heartbeatMs: 15 * SECOND_MS, stalledMs: 15 * SECOND_MS };
/** Events that are read and written at once to a stream that catches up: 45 KB. */
const PAGE = 100;

interface Frame {
  number: number;
  event: PaymentEvent;
  text: string;
}

interface StreamRequest {
  tenant: Tenant;
  filter: EventFilter;
  /** Behind which the stream begins; undefined for what happens from now on. */
  after: Position | undefined;
  /** Asked each second; the stream ends when it is false. */
  mayGoOn(): boolean;
}

const frameOf = (number: number, event: PaymentEvent): Frame => ({
  number,
  event,
  text: `id: ${event.id}\ndata: ${presentEvent(event)}\n\n`,
});

export class EventStreams implements FeedListener {
  readonly #database: Database;
  readonly #feed: Feed;
  readonly #pace: StreamPace;
  readonly #byTenant = new Map<string, Set<Stream>>();
  readonly #ticking: NodeJS.Timeout;
  readonly counters = { open: 0, dropped: 0 };
  #heard = 0;
  #stopped = false;

  constructor(database: Database, feed: Feed, pace: Partial<StreamPace> = {}) {
    this.#database = database;
    this.#feed = feed;
    this.#pace = { ...PACE, ...pace };
    feed.add(this);
    this.#ticking = setInterval(() => this.#each((stream) => stream.tick()), SECOND_MS).unref();
  }

  get isIdle(): boolean {
    return this.counters.open === 0;
  }

  async hear(entries: readonly AuditEntry[]): Promise<void> {
    const isHeard = (payment: Tenant) => this.#byTenant.has(tenantName(payment));
    for (const { number, event } of await tellOf(this.#database, entries, isHeard)) {
      const frame = event && frameOf(number, event);
      if (frame) for (const stream of this.#byTenant.get(tenantName(event.payment)) ?? []) stream.take(frame);
    }
    this.#heard = entries.at(-1)?.number ?? this.#heard; // at once: a stream that reads the list now must not wait for these
  }

  /**
   * Takes a place for a stream and returns what begins it on a response. The place is given back when the response closes. Throws
   * `rate_limited` if the merchant has too many, `unavailable`, `DatabaseError` and `HistoryBroken`.
   */
  async open(asked: StreamRequest, response: ServerResponse): Promise<() => void> {
    if (this.#stopped) throw unavailable();
    const name = tenantName(asked.tenant);
    const streams = this.#byTenant.get(name) ?? new Set();
    if (streams.size >= STREAMS_MAXIMUM)
      throw new OperationalError(
        'rate_limited',
        `This merchant has ${STREAMS_MAXIMUM} event streams open on this node. Close one of them first.`,
        { retryAfterS: 1, limit: 'streams' },
      );
    const drop = () => {
      this.counters.dropped += 1;
      response.destroy();
    };
    const reached = () => Math.max(this.#heard, this.#feed.reached);
    const parts = { database: this.#database, pace: this.#pace, reached, response, drop };
    const stream = new Stream({ ...asked, ...parts });
    this.#byTenant.set(name, streams.add(stream));
    this.counters.open += 1;
    const leave = () => {
      if (!streams.delete(stream)) return;
      this.counters.open -= 1;
      if (streams.size === 0 && this.#byTenant.get(name) === streams) this.#byTenant.delete(name);
    };
    response.once('close', leave);
    response.socket?.once('end', () => response.destroy()); // a client that ends its side is gone
    try {
      await this.#feed.begin();
      const from = asked.after ?? (await positionAt(this.#database, asked.tenant, this.#feed.newest));
      return () => stream.begin(from);
    } catch (error) {
      leave();
      throw error;
    }
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#ticking);
    this.#each((stream) => stream.end());
  }

  #each(act: (stream: Stream) => void): void {
    for (const streams of this.#byTenant.values()) for (const stream of streams) act(stream);
  }
}

interface StreamParts extends StreamRequest {
  database: Database;
  pace: StreamPace;
  /** Up to which entry streams have been handed everything. */
  reached(): number;
  response: ServerResponse;
  /** Ends the connection of a client that is too slow. */
  drop(): void;
}

/**
 * A stream is live, or it catches up: then it reads the list, a page whenever its client has taken the one before. It catches up at its
 * beginning and whenever its buffers are full, so that a slow client costs no more memory than two pages.
 */
class Stream {
  readonly #parts: StreamParts;
  /** Events up to here are sent. */
  #at: Position = BEGINNING;
  /** When something was written last; undefined before the stream has begun: then its headers are not sent yet. */
  #writtenAt: number | undefined;
  #isLive = false;
  /** Whether something happened while the list was read. */
  #hasMissed = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  /** Begins behind a position and says its id: a client that is cut before its first event goes on from there. */
  begin(from: Position): void {
    this.#write(`retry: ${RETRY_MS}\nid: ${from.id}\n\n`);
    this.#at = from;
    this.#catchUp();
  }

  take(frame: Frame): void {
    const { filter, response } = this.#parts;
    if (filter.types?.includes(frame.event.type) === false) return;
    if (filter.payment_id !== undefined && frame.event.payment.id !== filter.payment_id) return;
    if (this.#isLive && response.writableNeedDrain) this.#catchUp();
    else if (this.#isLive) this.#send(frame);
    else this.#hasMissed = true;
  }

  tick(): void {
    if (this.#writtenAt === undefined) return;
    if (!this.#parts.mayGoOn()) this.end();
    else if (monotonicMs() - this.#writtenAt >= this.#parts.pace.heartbeatMs) this.#write(':\n\n');
  }

  end(): void {
    this.#parts.response.end();
  }

  #catchUp(): void {
    this.#isLive = false;
    this.#sendList().catch(() => this.end()); // the client connects again and gets the reason then
  }

  /**
   * Sends the events that the feed has handed out by now, until nothing happens while they are read. Whatever happens later comes by
   * `take`. Throws what reading throws, and where the client is gone.
   */
  async #sendList(): Promise<void> {
    const { database, tenant, filter, response } = this.#parts;
    let from = this.#at;
    for (let isWhole = false; !isWhole || this.#hasMissed; ) {
      if (isWhole) from = this.#at;
      this.#hasMissed = false;
      if (response.writableNeedDrain) await this.#drained();
      const { events, has_more, end } = await listEvents(database, tenant, filter, from, PAGE);
      const reached = this.#parts.reached();
      const standing = events.filter(({ number }) => number <= reached);
      for (const { number, event } of standing) this.#send(frameOf(number, event));
      isWhole = !has_more || standing.length < events.length; // the feed hands out the others
      from = end!;
    }
    this.#isLive = true;
  }

  #send({ number, event, text }: Frame): void {
    if (number <= this.#at.number) return;
    this.#at = { number, id: event.id };
    this.#write(text);
  }

  #write(text: string): void {
    const { response } = this.#parts;
    if (response.destroyed || response.writableEnded) return;
    response.write(text);
    this.#writtenAt = monotonicMs();
  }

  async #drained(): Promise<void> {
    const { response, drop, pace } = this.#parts;
    const closed = new AbortController();
    const close = () => closed.abort();
    response.once('close', close);
    // After the process stood still, timers fire before the sockets are looked at. The client may have taken all meanwhile.
    let isOver = false;
    const late = setTimeout(() => setImmediate(() => isOver || drop()), pace.stalledMs);
    try {
      await once(response, 'drain', { signal: closed.signal });
    } finally {
      isOver = true;
      clearTimeout(late);
      response.off('close', close);
    }
  }
}
