// kill -9 of nodes while they deliver webhooks: every event reaches every endpoint, and only what was in flight comes twice.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { NOT_NOTED } from '../../src/webhooks/sender.ts';
import { freePort } from '../support/free-ports.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { NodeProcess, startSite } from './node-processes.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 10;
const ENDPOINTS = 5;
const CLIENTS = 3;
const KILL_AFTER_MS = { from: 50, to: 1500 };
/** A share of events is refused at first and comes again after some seconds. */
const REFUSED = 0.05;
/** A killed node's lease, and some retries. */
const DELIVERED_WITHIN_MS = 90_000;

async function call(origin: string, path: string, method = 'GET', body?: object) {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const response = await fetch(origin + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  return { status: response.status, json: (await response.json()) as any };
}

/** Creates and cancels payments until `isOver`, whatever becomes of the nodes meanwhile. */
async function load(origin: () => string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    try {
      const { status, json } = await call(origin(), '/v1/payments', 'POST', {
        amount: 1,
        expires_in: 5_000_000,
      });
      if (status === 201) await call(origin(), `/v1/payments/${json.data.id}/cancel`, 'POST');
    } catch {
      await delay(20); // the node is gone
    }
  }
}

/** The ids of all events. */
async function eventIds(origin: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after = ''; ; ) {
    const { json } = await call(origin, `/v1/events?limit=100${after}`);
    for (const { id } of json.data) ids.add(id);
    if (!json.has_more) return ids;
    after = `&after=${json.next_cursor}`;
  }
}

/** Kills nodes under load, `RUNS` times, and holds what arrived against the history. Returns a sentence of figures. */
async function killAll(nodes: readonly NodeProcess[], random: SeededRandom): Promise<string> {
  const receiver = await WebhookReceiver.start();
  const refused = new Set<string>();
  receiver.reply = ({ id, path }, response) => {
    const isFirst = !refused.has(path + id);
    refused.add(path + id);
    response.statusCode = isFirst && random.chance(REFUSED) ? 503 : 204;
    setTimeout(() => response.end(), random.between(0, 20));
  };
  const origin = () => random.pick(nodes).origin;
  try {
    for (let i = 0; i < ENDPOINTS; i++) {
      const { status } = await call(nodes[0]!.origin, '/v1/webhook_endpoints', 'POST', {
        url: receiver.url(`/${i}`),
      });
      assert.equal(status, 201);
    }
    let isOver = false;
    const loads = Array.from({ length: CLIENTS }, () => load(origin, () => isOver));
    for (let kill = 0; kill < RUNS; kill++) {
      await delay(random.between(KILL_AFTER_MS.from, KILL_AFTER_MS.to));
      const node = random.pick(nodes);
      await node.end('SIGKILL');
      await node.start();
    }
    isOver = true;
    await Promise.all(loads);
    const events = await eventIds(nodes[0]!.origin);
    const missing = () => {
      const came = new Set(receiver.received.map(({ path, id }) => `${path} ${id}`));
      const wanted = Array.from({ length: ENDPOINTS }, (_, i) => [...events].map((id) => `/${i} ${id}`));
      return wanted.flat().filter((one) => !came.has(one));
    };
    for (const end = Date.now() + DELIVERED_WITHIN_MS; missing().length > 0 && Date.now() < end; )
      await delay(250);
    assert.deepEqual(missing().slice(0, 3), [], `of ${events.size} events`);
    const attempts = receiver.received.length;
    const first = ENDPOINTS * events.size;
    const repeated = [...receiver.received].filter(({ path, id }) => !events.has(id) && path !== '').length;
    assert.equal(repeated, 0, 'nothing was sent that is not in the history');
    const twice = attempts - first;
    const mayCome = RUNS * ENDPOINTS * NOT_NOTED + first * REFUSED * 2;
    assert.ok(twice <= mayCome, `${twice} came again, ${mayCome} may`);
    return `${RUNS} kills, ${events.size} events to ${ENDPOINTS} endpoints: 0 lost, ${twice} came again`;
  } finally {
    await receiver.close();
  }
}

describe('webhooks', () => {
  test(`${RUNS} kills of one node on SQLite lose no event`, { timeout: Infinity }, async (context) => {
    const random = new SeededRandom();
    console.log(`webhooks: seed ${random.seed} (COUNTERFOIL_SEED), ${RUNS} kills (COUNTERFOIL_RUNS)`);
    const store = await temporaryStore('sqlite');
    const config = writeConfiguration(store, 'development', 'log_level: error\n');
    const port = await freePort();
    const node = new NodeProcess(port, () => startServerProcess({ config, port, storage: store.storage }));
    await node.start();
    try {
      context.diagnostic(await killAll([node], random));
    } finally {
      await node.end('SIGKILL');
      await store.drop();
    }
  });

  test(`${RUNS} kills of two nodes on PostgreSQL lose no event`, { timeout: Infinity }, async (context) => {
    const random = new SeededRandom();
    const site = await startSite({ nodes: 2, random });
    try {
      context.diagnostic(await killAll(site.nodes, random));
    } finally {
      await site.close();
    }
  });
});
