// Slow clients: thousands of connections that never finish are cut on time, and nobody else waits for them.
import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-ports.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import type { Attack, Casualties } from '../support/slow-attacker.ts';
import { type Store, temporaryStore } from '../support/stores.ts';
import { runApart } from './apart.ts';

/** Node throws its limit of open files to the hard one by itself; that must be above this in each process. */
const HALF_OPEN = Number(process.env.COUNTERFOIL_RUNS) || 5000;
const SLOW_BODIES = process.env.COUNTERFOIL_RUNS ? 1000 : 200;
const HEADERS_CUT_WITHIN_MS = 12_000;
const BODIES_CUT_WITHIN_MS = 17_000;
/** No slow client is cut before it had the time the service promises. */
const HEADERS_LEFT_ALONE_MS = 9_000;
/** Unless one in a hundred answers takes a quarter of that where nobody attacks: the machine may be slow, and other campaigns share it. */
const HONEST_P99_MAXIMUM_MS = 100;
const UNDISTURBED_MS = 2000;
const HONEST_EVERY_MS = 10;

const HEADERS = `Host: pay.test\r\nAuthorization: Bearer ${KEY}\r\n`;
/** From nothing at all to nearly everything. */
const UNFINISHED_HEADERS = [
  { opening: '', drip: '' },
  { opening: '', drip: '\r\n' },
  { opening: 'GET /', drip: 'a' },
  { opening: `GET /health HTTP/1.1\r\n${HEADERS}`, drip: 'X: a\r\n' },
  { opening: `POST /v1/payments HTTP/1.1\r\n${HEADERS}X-Slow: `, drip: 'a' },
];
const JSON_HEADERS = `${HEADERS}Content-Type: application/json\r\n`;
/** Bodies that are waited for, that are not wanted, and that were answered before they came. */
const UNFINISHED_BODIES = [
  `POST /v1/payments HTTP/1.1\r\n${JSON_HEADERS}Content-Length: 60000\r\n\r\n{`,
  `POST /v1/payments HTTP/1.1\r\n${JSON_HEADERS}Transfer-Encoding: chunked\r\n\r\n1000\r\n{`,
  'POST /v1/payments HTTP/1.1\r\nHost: pay.test\r\nContent-Length: 60000\r\n\r\n{',
  `POST /v1/payments/pay_${'0'.repeat(36)}/cancel HTTP/1.1\r\n${JSON_HEADERS}Content-Length: 60000\r\n\r\n{`,
  `POST /nowhere HTTP/1.1\r\n${HEADERS}Content-Length: 60000\r\n\r\n{`,
  `GET /health HTTP/1.1\r\n${HEADERS}Content-Length: 60000\r\n\r\n{`,
];

const attack = (orders: Attack) => runApart<Casualties>('../support/slow-attacker.ts', orders);

/** Asks for /health again and again until `until` is settled. Returns how long each answer took, ascending. */
async function honestClient(origin: string, until: Promise<unknown>): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  let goesOn = true;
  until.finally(() => (goesOn = false)).catch(() => {});
  try {
    while (goesOn) {
      const begun = performance.now();
      const status = await new Promise((resolve, reject) => {
        get(`${origin}/health`, { agent }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        }).on('error', reject);
      });
      assert.equal(status, 200);
      times.push(performance.now() - begun);
      await delay(HONEST_EVERY_MS);
    }
  } finally {
    agent.destroy();
  }
  await until;
  return times.sort((a, b) => a - b);
}

const percentile = (ascending: number[], p: number) => ascending[Math.ceil(ascending.length * p) - 1]!;

describe('slow clients', { concurrency: true }, () => {
  let store: Store;
  let server: ServerProcess;
  let mostMs: number;
  before(async () => {
    store = await temporaryStore('sqlite');
    const config = writeConfiguration(store);
    server = await startServerProcess({ config, port: await freePort(), storage: store.storage });
    const undisturbed = await honestClient(server.origin, delay(UNDISTURBED_MS));
    mostMs = Math.max(HONEST_P99_MAXIMUM_MS, 4 * percentile(undisturbed, 0.99));
  });
  after(async () => {
    await server.end('SIGTERM');
    await store.drop();
  });

  async function besiege(orders: Omit<Attack, 'port'>, report: (line: string) => void) {
    const attacking = attack({ ...orders, port: Number(new URL(server.origin).port) });
    const times = await honestClient(server.origin, attacking.gone).finally(attacking.end);
    const { opened, cutAfterMs, lateMs, farewells } = await attacking.gone;
    const p99 = percentile(times, 0.99);
    report(
      `${opened} opened, ${cutAfterMs.length} cut after ${cutAfterMs[0]} to ${cutAfterMs.at(-1)} ms, seen up to ${lateMs} ms late`,
    );
    report(`farewells ${JSON.stringify(farewells)}`);
    report(
      `/health meanwhile: ${times.length} asked, p99 ${p99.toFixed(1)} ms, ${times.at(-1)!.toFixed(1)} at most`,
    );
    assert.equal(opened, orders.connections);
    assert.equal(cutAfterMs.length, orders.connections, 'every slow client is cut');
    assert.ok(p99 < mostMs, `an honest client waited ${p99} ms`);
    // It may have been late to see one open, or one cut.
    return { first: cutAfterMs[0]! + lateMs, last: cutAfterMs.at(-1)! - lateMs, farewells };
  }

  test(`${HALF_OPEN} whose headers never end are cut within 12 s, and /health stays quick`, async (t) => {
    const orders = { ways: UNFINISHED_HEADERS, connections: HALF_OPEN };
    const { first, last, farewells } = await besiege(orders, (line) => t.diagnostic(line));
    assert.ok(last < HEADERS_CUT_WITHIN_MS, `the last was cut after ${last} ms`);
    assert.deepEqual(Object.keys(farewells), ['HTTP/1.1 408']);
    assert.ok(first > HEADERS_LEFT_ALONE_MS, `the first was cut after ${first} ms`);
  });

  test(`${SLOW_BODIES} whose bodies never end are cut within 17 s`, async (t) => {
    const ways = UNFINISHED_BODIES.map((opening) => ({ opening, drip: ' ' }));
    const orders = { ways, connections: SLOW_BODIES };
    const { last } = await besiege(orders, (line) => t.diagnostic(line));
    assert.ok(last < BODIES_CUT_WITHIN_MS, `the last was cut after ${last} ms`);
  });
});
