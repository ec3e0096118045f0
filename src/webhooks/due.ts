// The deliveries of an endpoint that are due, read some at once together with what they tell.

import type { Clock } from '../lib/time.ts';
import type { PaymentEvent } from '../payments/events/event.ts';
import { toldOfPayments } from '../payments/events/list.ts';
import type { Reader } from '../store/database.ts';
import type { Delivery } from './delivery.ts';
import { dueDeliveries } from './delivery-queries.ts';
import type { Endpoint } from './endpoint.ts';
import { othersWithUrl } from './queries.ts';

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

  /** Number of deliveries that are known to wait. */
  get waiting(): number {
    return this.#read.length + this.#unread;
  }

  /** Notes that `count` more were queued. */
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
