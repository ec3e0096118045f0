// Engines agree: SQLite and PostgreSQL give the same answers to the same requests, and give texts back byte for byte.
//
// Longer: COUNTERFOIL_RUNS=100000 node --test test/campaigns/engines-agree.test.ts
// Again:  COUNTERFOIL_SEED=(as printed), with the same COUNTERFOIL_RUNS.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { DAY_MS, HOUR_MS, MINUTE_MS, systemClock } from '../../src/lib/time.ts';
import { expectedTexts } from '../support/expected-texts.ts';
import { BODY_WITH_TEXT } from '../support/generate-bodies.ts';
import { type Harness, KEY, startHarness } from '../support/harness.ts';
import { TEXTS } from '../support/nasty-values.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES } from '../support/stores.ts';
import {
  encodeRequest,
  exchange,
  parseAnswers,
  type WireAnswer,
  type WireRequest,
} from '../support/wire-client.ts';
import { fill, type Known, request } from './generate.ts';

const SHORT_RUNS = 800;
const BATCH = 250;
const IDS_KNOWN = 200;
/** Both services serve the same addresses, with paths before them, so that answers that hold an address compare. */
const CONFIGURATION = 'base_url: http://pay.test/api\ncheckout_base_url: http://pay.test/checkout\n';
/** What no two answers share, whoever gives them. */
const OWN_HEADERS = ['date', 'x-request-id'];
const NAME_OF_ID = (n: number) => `pay_${String(n).padStart(36, '#')}`;

/** A request, or one of the last few once more, or time that passes. */
type Step = { request: WireRequest } | { again: number } | { passMs: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: request.map((one) => ({ request: one })), weight: 100 },
  { arbitrary: fc.integer({ min: 1, max: 12 }).map((again) => ({ again })), weight: 10 },
  {
    arbitrary: fc
      .constantFrom(MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, DAY_MS, 8 * DAY_MS)
      .map((passMs) => ({ passMs })),
    weight: 1,
  },
);

/** One engine's service, and what is its own in answers: ids, known to both by the order they appeared in. */
class Side {
  readonly harness: Harness;
  readonly ids: string[] = [];
  cursor: string | undefined;
  readonly #nameOf = new Map<string, string>();

  constructor(harness: Harness) {
    this.harness = harness;
  }

  get known(): Known {
    return { ids: this.ids.slice(-IDS_KNOWN), cursor: this.cursor };
  }

  async send(wire: WireRequest): Promise<WireAnswer> {
    const { port } = new URL(this.harness.origin);
    const answers = parseAnswers(await exchange(Number(port), encodeRequest(wire)));
    assert.equal(answers.length, 1, 'one request has one answer');
    return answers[0]!;
  }

  /** Takes note of what later requests may name. */
  learn(answer: WireAnswer): void {
    const id = answer.status === 201 && /pay_\w{36}/.exec(answer.body)?.[0];
    if (id && !this.#nameOf.has(id)) {
      this.#nameOf.set(id, NAME_OF_ID(this.ids.length));
      this.ids.push(id);
    }
    this.cursor = /"next_cursor":"(\w+)"/.exec(answer.body)?.[1] ?? this.cursor;
  }

  /** The answer with every name that is this side's alone put into words both use. */
  common(answer: WireAnswer): object {
    const named = (text: string) =>
      text
        .replace(
          /"next_cursor":"(\w+)"/,
          (_all, cursor) => `"next_cursor":"${Buffer.from(cursor, 'base64url')}"`,
        )
        .replace(/(name="(?:token|seed)" value=")[\w-]{43}/g, '$1…') // made of a payment's salt, or by chance
        .replace(/(counterfoil_(?:form|registration)=)[\w-]{43}/, '$1…') // a secret of each browser's own
        .replace(/(nonce(?:-|="))[\w-]{22}/g, '$1…') // new for each page of the console
        .replace(/pay_[0-9a-z]{36}/g, (id) => this.#nameOf.get(id) ?? id);
    const headers = [...answer.headers].filter(([name]) => !OWN_HEADERS.includes(name));
    return {
      status: answer.status,
      headers: Object.fromEntries(headers.map(([name, value]) => [name, named(value)])),
      body: named(answer.body),
    };
  }

  /** The history as far as requests made it, the clock's own doings being a matter of when it looks. */
  async history(): Promise<string[]> {
    const rows = await this.harness.service.database.query<Record<'actor' | 'action' | 'subject', string>>(
      `select actor, action, subject from audit_entries where actor <> 'clock' order by number`,
    );
    return rows.map(
      ({ actor, action, subject }) => `${actor} ${action} ${this.#nameOf.get(subject) ?? subject}`,
    );
  }
}

describe('engines agree', () => {
  const runs = Number(process.env.COUNTERFOIL_RUNS) || SHORT_RUNS;
  const { seed } = new SeededRandom();
  let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined;
  let sides: Side[];
  let now = systemClock.now();

  before(async () => {
    if (!process.env.COUNTERFOIL_TEST_POSTGRES) {
      postgres = await startPostgres();
      process.env.COUNTERFOIL_TEST_POSTGRES = postgres.url;
    }
    const harnesses = await Promise.all(
      ENGINES.map((engine) => startHarness(engine, { configuration: CONFIGURATION })),
    );
    // One clock for both, which stands still while a request is served: every timestamp must be the same.
    for (const { clock } of harnesses) clock.now = () => now;
    sides = harnesses.map((harness) => new Side(harness));
  });
  after(async () => {
    await Promise.all(sides.map(({ harness }) => harness.close()));
    await postgres?.stop();
  });

  /** Sends a request to all, compares the answers, and returns the first side's. */
  async function ask(wire: WireRequest): Promise<WireAnswer> {
    now += 1; // a millisecond each, so that the order of ids is the order of requests
    const answers = await Promise.all(sides.map((side) => side.send(fill(wire, side.known))));
    for (const [i, side] of sides.entries()) side.learn(answers[i]!);
    const [one, ...others] = sides.map((side, i) => side.common(answers[i]!));
    for (const other of others) assert.deepEqual(other, one);
    assert.doesNotMatch(
      answers[0]!.body,
      /^{"error":{"code":"idempotency_in_progress"/,
      'nobody else is asking',
    );
    return answers[0]!;
  }

  /** Reads a payment just created, on all sides: as its creation answered, and as it was sent. */
  async function readBack(created: WireRequest, answer: WireAnswer): Promise<void> {
    const headers = created.headers.filter(([name]) => name === 'Authorization');
    const path = `/api/v1/payments/@id0`;
    const read = await ask({ method: 'GET', path, headers, body: undefined });
    assert.equal(read.body, answer.body);
    const { data } = JSON.parse(read.body);
    const expected = expectedTexts(created.body!);
    const echoed = Object.fromEntries(Object.keys(expected).map((name) => [name, data[name]]));
    assert.deepEqual({ ...echoed, metadata: JSON.stringify(data.metadata) }, expected);
    if (data.merchant_reference === null || data.merchant_reference === '') return;
    const query = `limit=1&merchant_reference=${encodeURIComponent(data.merchant_reference)}`;
    const found = await ask({ method: 'GET', path: `/api/v1/payments?${query}`, headers, body: undefined });
    assert.deepEqual(JSON.parse(found.body).data, [data]);
  }

  /** Sends a request, and where it creates a payment, reads that back. */
  async function tryOut(wire: WireRequest, place: string): Promise<WireAnswer> {
    try {
      const answer = await ask(wire);
      const fresh = answer.status === 201 && !answer.headers.has('idempotency-replayed');
      if (fresh) await readBack(wire, answer);
      return answer;
    } catch (error) {
      const shown = inspect({ ...wire, body: wire.body?.toString() }, { maxStringLength: 2000 });
      throw new Error(`${place}: ${shown}`, { cause: error });
    }
  }

  test('on every text known for mischief, in every field', async () => {
    const headers = [
      ['Authorization', `Bearer ${KEY}`],
      ['Content-Type', 'application/json'],
    ] as const;
    for (const text of TEXTS) {
      for (const around of BODY_WITH_TEXT) {
        const body = Buffer.from(around(JSON.stringify(text)));
        await tryOut(
          { method: 'POST', path: '/api/v1/payments', headers, body },
          'a text known for mischief',
        );
      }
    }
  });

  test(`on ${runs} requests, seed ${seed}`, async (t) => {
    const statuses: Record<number, number> = {};
    const sent: WireRequest[] = [];
    for (let done = 0; done < runs; done += BATCH) {
      const steps = fc.sample(step, { numRuns: Math.min(BATCH, runs - done), seed: seed + done });
      for (const [i, one] of steps.entries()) {
        if ('passMs' in one) {
          now += one.passMs;
          continue;
        }
        const chosen = 'again' in one ? sent.at(-one.again) : prefixed(one.request);
        if (!chosen) continue;
        sent.push(chosen);
        if (sent.length > 20) sent.shift();
        const { status } = await tryOut(chosen, `request ${done + i} of seed ${seed}`);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }
    t.diagnostic(`answers: ${JSON.stringify(statuses)}`);
    for (const status of [200, 201, 400, 401, 404, 409, 415, 422])
      assert.ok(statuses[status], `some ${status}`);
    const [one, ...others] = await Promise.all(sides.map((side) => side.history()));
    for (const other of others) assert.deepEqual(other, one);
    for (const { harness } of sides) await harness.verify();
  });
});

/** API paths and checkout's lie below different base paths here. */
function prefixed(wire: WireRequest): WireRequest {
  const base = wire.path.startsWith('/payment.php') ? '/checkout' : '/api';
  return { ...wire, path: base + wire.path };
}
