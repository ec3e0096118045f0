// Payments: create, read, list, cancel, send the link, wait for a decision; and the moves of test payments.

import { checkedAmount } from './amount.ts';
import { allOf, type Filter } from './list.ts';
import type { ListPaymentsQuery, PaymentRequest, TriedRejection } from './requests.ts';
import type { PaymentList, Routes } from './routes.ts';
import type { Payment } from './schemas.ts';
import { type CallOptions, pause, type Transport, type WriteOptions } from './transport.ts';

/** What the service takes for `Prefer: wait` at most. */
const WAIT_MAXIMUM_S = 50;
/** Between two reads where the service does not wait itself. */
const LOOK_EACH_MS = 2000;

/** What `payments.create` takes. */
export interface NewPayment extends Omit<PaymentRequest, 'amount'> {
  /** A text of the currency's main unit with at most two decimals, such as `'49.90'`; or `fromMinorUnits(4990, 'EUR')`. Never a number. */
  amount: string;
}

export class Payments {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a payment. Send the customer to its `checkout_url`, and store its `id` beside the order. Give an `idempotencyKey` made of
   * the order's id and its attempt, so that a second call for one order gives the same payment. Throws `TypeError` for an amount that
   * is a number.
   */
  async create(payment: NewPayment, options?: WriteOptions): Promise<Payment> {
    const { amount, ...others } = payment;
    const rest = JSON.stringify(others).slice(1);
    // The API takes a JSON number and judges it as it is written, so the text stands there as it is.
    const body = `{"amount":${checkedAmount(amount)}${rest === '}' ? '' : ','}${rest}`;
    return (await this.#transport.call('POST /v1/payments', { ...options, body })).data;
  }

  /** A payment as it is now. Paid is what is `approved` and has an `amount_received` that is not less than its `amount`. */
  async read(id: string, options?: CallOptions): Promise<Payment> {
    return (await this.#transport.call('GET /v1/payments/{payment_id}', { ...options, id })).data;
  }

  /** The merchant's payments, newest first; with `updated_after` those that changed, oldest change first. */
  list(filter: Filter<ListPaymentsQuery> = {}, options?: CallOptions): AsyncGenerator<Payment> {
    if (filter.updated_after === undefined)
      return allOf((cursor) => this.page({ ...filter, ...cursor }, options));
    return allOf(async ({ limit, cursor = filter.updated_after }) => {
      const page = await this.page({ ...filter, limit, updated_after: cursor }, options);
      return { ...page, next_cursor: page.next_updated_cursor ?? null };
    });
  }

  /** One page of the list, with its cursors. */
  page(query: ListPaymentsQuery = {}, options?: CallOptions): Promise<PaymentList> {
    return this.#transport.call('GET /v1/payments', { ...options, query });
  }

  /** Cancels a payment. Throws `ApiError` `invalid_status` where it is no longer `pending`. */
  cancel(id: string, options?: WriteOptions): Promise<Payment> {
    return this.#move('POST /v1/payments/{payment_id}/cancel', id, options);
  }

  /** Sends the customer the link by mail. */
  sendLink(id: string, options?: WriteOptions): Promise<Payment> {
    return this.#move('POST /v1/payments/{payment_id}/send_link', id, options);
  }

  /**
   * Waits until a payment is `approved`, `rejected` or `cancelled`, for `timeoutMs` (default: 50 seconds), and returns it as it is then:
   * a person decides, so it may still be `requires_review`. Ship only what is `approved`, and compare `amount_received` with `amount`.
   */
  async waitForDecision(id: string, options: CallOptions = {}): Promise<Payment> {
    const { signal, timeoutMs = WAIT_MAXIMUM_S * 1000 } = options;
    const end = performance.now() + timeoutMs;
    let headers: Record<string, string> = {};
    for (let known: Payment | undefined; ; ) {
      const route = 'GET /v1/payments/{payment_id}';
      const waitMs = known ? Math.min(end - performance.now(), WAIT_MAXIMUM_S * 1000) : 0;
      const waits = { ...headers, ...(waitMs > 0 && { prefer: `wait=${Math.ceil(waitMs / 1000)}` }) };
      const answer = await this.#transport.send(route, { signal, id, headers: waits, waitMs });
      known = (answer.json?.data ?? known) as Payment;
      const isOpen = known.status === 'pending' || known.status === 'requires_review';
      if (!isOpen || performance.now() >= end) return known;
      if (waitMs > 0 && !answer.headers.has('preference-applied'))
        await pause(Math.min(LOOK_EACH_MS, end - performance.now()), signal);
      headers = { 'if-none-match': answer.headers.get('etag') ?? '' };
    }
  }

  async #move(route: MoveRoute, id: string, options?: WriteOptions): Promise<Payment> {
    return (await this.#transport.call(route, { ...options, id })).data;
  }
}

type MoveRoute = {
  [R in keyof Routes]: R extends `POST /v1/${string}{payment_id}/${string}` ? R : never;
}[keyof Routes];

export class TestPayments {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** As if the customer had paid: `pending` becomes `requires_review`. */
  submit(id: string, options?: WriteOptions): Promise<Payment> {
    return this.#move('submit', id, options);
  }

  /** As if a person had approved it. */
  approve(id: string, options?: WriteOptions): Promise<Payment> {
    return this.#move('approve', id, options);
  }

  /** As if a person had rejected it, with a reason and a message to the customer. */
  reject(id: string, rejection: TriedRejection = {}, options?: WriteOptions): Promise<Payment> {
    return this.#move('reject', id, { ...options, body: JSON.stringify(rejection) });
  }

  /** As if it had not been paid in time. */
  expire(id: string, options?: WriteOptions): Promise<Payment> {
    return this.#move('expire', id, options);
  }

  /** As if an administrator had recorded money that nobody announced: all that was asked for, or `amount`, such as `'40.00'`. */
  record(id: string, { amount, ...options }: WriteOptions & { amount?: string } = {}): Promise<Payment> {
    const body = amount === undefined ? undefined : `{"amount":${checkedAmount(amount)}}`;
    return this.#move('record', id, { ...options, ...(body && { body }) });
  }

  /** As if the customer of an expired payment had asked for a new link. */
  requestLink(id: string, options?: WriteOptions): Promise<Payment> {
    return this.#move('request_link', id, options);
  }

  async #move(move: string, id: string, options?: WriteOptions & { body?: string }): Promise<Payment> {
    return (
      await this.#transport.call(`POST /v1/test/payments/{payment_id}/${move}` as MoveRoute, {
        ...options,
        id,
      })
    ).data;
  }
}
