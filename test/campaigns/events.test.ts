// Random operations of two merchants: what is listed and what is streamed is, event for event, what the history says.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { entriesAfter } from '../../src/journal/queries.ts';
import { openStream, type StreamClient } from '../support/event-stream.ts';
import { type Harness, KEY, OTHER_KEY, startHarness } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES } from '../support/stores.ts';

/** COUNTERFOIL_RUNS=100000 is the long form. */
const OPERATIONS = Number(process.env.COUNTERFOIL_RUNS) || 1500;
const AT_ONCE = 16;
/** The connection of each stream is broken so many times. */
const BREAKS = 5;
const MOVES = ['test/submit', 'test/approve', 'test/reject', 'test/expire', 'cancel'];
/** The events that each action may be told as. */
const TOLD: Readonly<Record<string, RegExp>> = {
  'payment.created': /^payment\.created$/,
  'payment.requires_review': /^payment\.(submitted|money_received|reopened)$/,
  'payment.approved': /^payment\.approved$/,
  'payment.rejected': /^payment\.rejected$/,
  'payment.cancelled': /^payment\.(cancelled|expired)$/,
};

interface Listed {
  id: string;
  type: string;
  data: { payment_id: string };
}

async function listAll(service: Harness, key: string): Promise<Listed[]> {
  const events: Listed[] = [];
  for (let cursor = ''; ; ) {
    const { json, text, status } = await service.request(`/v1/events?limit=100${cursor}`, { key });
    assert.equal(status, 200, text);
    events.push(...json.data);
    if (!json.has_more) return events;
    cursor = `&after=${json.next_cursor}`;
  }
}

/** Entries about payments of a merchant, as the table has them. */
async function entriesOf({ service }: Harness, ids: ReadonlySet<string>) {
  const found: { subject: string; action: string }[] = [];
  for (let after = 0; ; ) {
    const entries = await entriesAfter(service.database, after, 1000);
    found.push(...entries.filter(({ subject, action }) => ids.has(subject) && action in TOLD));
    if (entries.length < 1000) return found;
    after = entries.at(-1)!.number;
  }
}

/** A stream that is broken now and then, and goes on behind its last event. */
class BrokenStream {
  readonly ids: string[] = [];
  #client: StreamClient;
  readonly #service: Harness;
  readonly #key: string;
  /** The event that it began behind: what comes next may be on its way when it is broken. */
  readonly #first: string;

  constructor(service: Harness, key: string, first: string, client: StreamClient) {
    this.#first = first;
    this.#service = service;
    this.#key = key;
    this.#client = client;
  }

  async break(): Promise<void> {
    this.#client.close();
    this.ids.push(...this.#client.events.map(({ id }) => id));
    const headers = { 'last-event-id': this.ids.at(-1) ?? this.#first };
    this.#client = await openStream(this.#service, '', { key: this.#key, headers });
  }

  async all(count: number): Promise<string[]> {
    await this.#client.heard(count - this.ids.length);
    return [...this.ids, ...this.#client.events.map(({ id }) => id)];
  }
}

for (const engine of ENGINES) {
  describe(`events of random operations on ${engine}`, () => {
    test('what is listed and what is streamed is what the history says, each once and in its order.', async () => {
      const random = new SeededRandom();
      console.log(`events on ${engine}: seed ${random.seed} (COUNTERFOIL_SEED)`);
      await using service = await startHarness(engine);
      const shops = await Promise.all(
        [KEY, OTHER_KEY].map(async (key) => {
          const ids = [(await service.create({}, { key })).id as string];
          const [first] = await listAll(service, key);
          const stream = new BrokenStream(
            service,
            key,
            first!.id,
            await openStream(service, `?after=${first!.id}`, { key }),
          );
          return { key, ids, stream, first: first!.id };
        }),
      );
      const operate = async () => {
        const { key, ids } = random.pick(shops);
        if (random.chance(0.4)) ids.push((await service.create({}, { key })).id);
        else {
          const [move, isTest] = random.pick(MOVES).split('/').reverse();
          const path = `/v1/${isTest ? 'test/' : ''}payments/${random.pick(ids)}/${move}`;
          const { status, text } = await service.request(path, { method: 'POST', key });
          assert.ok(status === 200 || status === 409, text);
        }
      };
      for (let done = 0, breaks = 0; done < OPERATIONS; done += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, operate));
        if (done < (breaks * OPERATIONS) / BREAKS) continue;
        breaks += 1;
        for (const { stream, ids } of shops) if (ids.length > 1) await stream.break();
      }
      for (const { key, ids, stream, first } of shops) {
        const listed = await listAll(service, key);
        const entries = await entriesOf(service, new Set(ids));
        assert.equal(listed.length, entries.length);
        for (const [i, { type, data }] of listed.entries()) {
          assert.equal(data.payment_id, entries[i]!.subject);
          assert.match(type, TOLD[entries[i]!.action]!);
        }
        const told = listed.map(({ id }) => id);
        assert.deepEqual([first, ...(await stream.all(told.length - 1))], told);
      }
    });
  });
}
