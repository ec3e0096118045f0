// Requests that wait for a change of one payment (`Prefer: wait`), woken by the journal's feed.
import type { AuditEntry } from '../journal/audit-entry.ts';
import type { Feed, FeedListener } from '../journal/feed.ts';
import { type Tenant, tenantName } from './queries.ts';

/** Requests that wait on this node: of all merchants, and of one merchant in one mode. */
const WAITS_MAXIMUM = 10_000;
const WAITS_OF_ONE_MAXIMUM = 5000;

interface WaitFor<T> {
  tenant: Tenant;
  paymentId: string;
  withinMs: number;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
  /** Looks at the payment: undefined while it is as the client knows it. */
  look(): Promise<T | undefined>;
}

export class Waits implements FeedListener {
  readonly #feed: Feed;
  readonly #wakes = new Map<string, Set<() => void>>();
  readonly #countOf = new Map<string, number>();
  readonly counters = { open: 0 };
  #stopped = false;

  constructor(feed: Feed) {
    this.#feed = feed;
    feed.add(this);
  }

  get isIdle(): boolean {
    return this.counters.open === 0;
  }

  hear(entries: readonly AuditEntry[]): void {
    for (const { subject } of entries) for (const wake of this.#wakes.get(subject) ?? []) wake();
  }

  /** Whether one more request of a tenant may wait. */
  hasRoom(tenant: Tenant): boolean {
    const count = this.#countOf.get(tenantName(tenant)) ?? 0;
    return !this.#stopped && this.counters.open < WAITS_MAXIMUM && count < WAITS_OF_ONE_MAXIMUM;
  }

  /**
   * Returns what `look` returns after the first change that makes it return something; undefined after the time, when the client is
   * gone, and when the node stops. Throws what `look` throws, `OperationalError` and `DatabaseError`.
   */
  async until<T>({ tenant, paymentId, withinMs, signal, look }: WaitFor<T>): Promise<T | undefined> {
    let isChanged = false;
    let isOver = false;
    let wakeUp = () => {};
    const wake = () => {
      isChanged = true;
      wakeUp();
    };
    const giveUp = () => {
      isOver = true;
      wakeUp();
    };
    const leave = this.#enter(tenant, paymentId, wake);
    const timer = setTimeout(giveUp, withinMs);
    signal.addEventListener('abort', giveUp);
    try {
      await this.#feed.begin();
      for (;;) {
        isChanged = false;
        const found = await look();
        if (found !== undefined) return found;
        if (!isChanged && !isOver && !this.#stopped)
          await new Promise<void>((resolve) => {
            wakeUp = resolve;
          });
        if (isOver || this.#stopped) return undefined;
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      leave();
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const wakes of this.#wakes.values()) for (const wake of wakes) wake();
  }

  #enter(tenant: Tenant, paymentId: string, wake: () => void): () => void {
    const name = tenantName(tenant);
    const wakes = this.#wakes.get(paymentId) ?? new Set();
    this.#wakes.set(paymentId, wakes.add(wake));
    this.#countOf.set(name, (this.#countOf.get(name) ?? 0) + 1);
    this.counters.open += 1;
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0) this.#wakes.delete(paymentId);
      const left = this.#countOf.get(name)! - 1;
      if (left > 0) this.#countOf.set(name, left);
      else this.#countOf.delete(name);
      this.counters.open -= 1;
    };
  }
}
