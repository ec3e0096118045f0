// A merchant's client that creates payments whatever happens to the service, and counts afterwards what became of each.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { KEY } from '../support/harness.ts';
import { type LoadClient, loadClient } from '../support/load-client.ts';
import { eventually } from '../support/waiting.ts';

const CLIENTS = 3;
const PAGE = 100;
/** Between two tries of a request without an answer that settles it. */
const AGAIN_MS = 20;

export interface Count {
  acknowledged: number;
  /** Ids that were answered 201 and are not there, or not as they were answered. */
  lost: string[];
  /** References that stand for more than one payment. */
  doubled: string[];
}

export class PaymentCounter {
  readonly #client: LoadClient;
  /** References by the ids that were answered. */
  readonly #acknowledged = new Map<string, string>();
  readonly #stop = new AbortController();
  readonly #working: Promise<unknown>;

  /** Begins to create payments at `origin`. Each is asked for with one key until an answer settles it. */
  constructor(origin: string) {
    this.#client = loadClient(origin, KEY, CLIENTS, { keepAlive: false });
    this.#working = Promise.all(Array.from({ length: CLIENTS }, () => this.#work()));
  }

  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const key = randomUUID();
      const body = { amount: 19.99, merchant_reference: key };
      for (let settled = false; !settled && !this.#stop.signal.aborted; ) {
        const answer = await this.#client.post('/v1/payments', body, key);
        settled = answer?.status === 201;
        if (settled) this.#acknowledged.set(JSON.parse(answer!.text).data.id, key);
        else await delay(AGAIN_MS);
      }
    }
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** Waits until so many more are acknowledged. */
  more(count: number): Promise<void> {
    const wanted = this.#acknowledged.size + count;
    return eventually(
      () => this.#acknowledged.size >= wanted,
      () => `${this.#acknowledged.size} of ${wanted} payments are acknowledged`,
    );
  }

  /** Ends the clients, and compares what they were answered with what the service lists. */
  async count(): Promise<Count> {
    this.#stop.abort();
    await this.#working;
    const stored = new Map<string, string>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer = await this.#client.get(`/v1/payments?limit=${PAGE}${cursor && `&cursor=${cursor}`}`);
      if (answer?.status !== 200) throw new Error(`the list answers ${answer?.status}: ${answer?.text}`);
      const page: { data: { id: string; merchant_reference: string | null }[]; next_cursor: string | null } =
        JSON.parse(answer.text);
      for (const { id, merchant_reference } of page.data) stored.set(id, merchant_reference ?? id);
      cursor = page.next_cursor;
    }
    this.#client.close();
    const references = [...stored.values()];
    return {
      acknowledged: this.acknowledged,
      lost: [...this.#acknowledged].flatMap(([id, key]) => (stored.get(id) === key ? [] : [id])),
      doubled: references.filter((one, at) => references.indexOf(one) !== at),
    };
  }
}
