// Endpoints of the campaigns' merchant, and what came to them: each event must come to each of them, whatever happened to the nodes.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../support/harness.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

/** A share of events is refused at first and comes again after some seconds. */
const REFUSED = 0.05;
const SLOWEST_ANSWER_MS = 20;
/** While something arrives it is waited on. Longer than a killed node's lease and the first retry. */
const QUIET_MS = 90_000;

/** The ids of all events after the one that `after` names. */
async function eventIds(origin: string, after: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor = after; ; ) {
    const { json, status } = await ask(origin, `/v1/events?limit=100${cursor && `&after=${cursor}`}`);
    assert.equal(status, 200, JSON.stringify(json));
    for (const { id } of json.data) ids.add(id);
    if (!json.has_more) return ids;
    cursor = json.next_cursor;
  }
}

export interface HooksSettled {
  events: number;
  /** Attempts that were neither the first nor an answer to a refusal. */
  repeated: number;
}

export class HookTally {
  readonly #receiver: WebhookReceiver;
  readonly #endpoints: number;
  #refusals = 0;
  /** The path and the event of each that was taken: one that was refused must come again. */
  readonly #taken = new Set<string>();
  /** The newest event when the endpoints were made. */
  #after = '';

  private constructor(receiver: WebhookReceiver, endpoints: number) {
    this.#receiver = receiver;
    this.#endpoints = endpoints;
  }

  /** Makes `endpoints` endpoints on the node at `origin`. */
  static async start(origin: string, endpoints: number, random: SeededRandom): Promise<HookTally> {
    const receiver = await WebhookReceiver.start();
    const tally = new HookTally(receiver, endpoints);
    const seen = new Set<string>();
    receiver.reply = ({ id, path }, response) => {
      const isRefused = !seen.has(path + id) && random.chance(REFUSED);
      seen.add(path + id);
      if (isRefused) tally.#refusals += 1;
      else tally.#taken.add(`${path} ${id}`);
      response.statusCode = isRefused ? 503 : 204;
      setTimeout(() => response.end(), random.between(0, SLOWEST_ANSWER_MS));
    };
    tally.#after = [...(await eventIds(origin, ''))].at(-1) ?? '';
    for (let i = 0; i < endpoints; i++) {
      const { status } = await ask(origin, '/v1/webhook_endpoints', {
        method: 'POST',
        body: { url: receiver.url(`/${i}`) },
      });
      assert.equal(status, 201);
    }
    return tally;
  }

  /** Waits until each event of the history was taken by each endpoint. Fails if one does not come, or one came that the history has not. */
  async settle(origin: string): Promise<HooksSettled> {
    const { received } = this.#receiver;
    const events = await eventIds(origin, this.#after);
    const missing = () => {
      const wanted = Array.from({ length: this.#endpoints }, (_, i) =>
        [...events].map((id) => `/${i} ${id}`),
      );
      return wanted.flat().filter((one) => !this.#taken.has(one));
    };
    const began = Date.now();
    while (missing().length > 0 && Date.now() - Math.max(received.at(-1)?.at ?? 0, began) < QUIET_MS)
      await delay(1000);
    assert.deepEqual(missing().slice(0, 3), [], `of ${events.size} events`);
    const unknown = received.filter(({ id }) => !events.has(id));
    assert.deepEqual(unknown.slice(0, 3), [], 'nothing was sent that is not in the history');
    return {
      events: events.size,
      repeated: received.length - events.size * this.#endpoints - this.#refusals,
    };
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }
}
