// kill -9 of nodes while they deliver webhooks: every event reaches every endpoint soon, and only what was in flight comes twice.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-ports.ts';
import { ask, writeConfiguration } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';
import { answering, WebhookReceiver } from '../support/webhook-receiver.ts';
import { HookTally } from './hook-tally.ts';
import { NodeProcess, startSite } from './node-processes.ts';

/** Attempts of a worker that may be under way without a note of them. */
const NOT_NOTED = 8;
const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 4;
const ENDPOINTS = 5;
const CLIENTS = 3;
const KILL_AFTER_MS = { from: 50, to: 1500 };
/** From the kill of a node to the first attempt of another for the same endpoint. */
const TAKEN_OVER_MS = 30_000;

/** Creates and cancels payments until `isOver`, whatever becomes of the nodes meanwhile. */
async function load(origin: () => string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    try {
      const { status, json } = await ask(origin(), '/v1/payments', {
        method: 'POST',
        body: { amount: 1, expires_in: 5_000_000 },
      });
      if (status === 201) await ask(origin(), `/v1/payments/${json.data.id}/cancel`, { method: 'POST' });
    } catch {
      await delay(20); // the node is gone
    }
  }
}

/** Kills nodes under load, `RUNS` times, and holds what arrived against the history. Returns a sentence of figures. */
async function killAll(nodes: readonly NodeProcess[], random: SeededRandom): Promise<string> {
  const hooks = await HookTally.start(nodes[0]!.origin, ENDPOINTS, random);
  try {
    let isOver = false;
    const origin = () => random.pick(nodes).origin;
    const loads = Array.from({ length: CLIENTS }, () => load(origin, () => isOver));
    for (let kill = 0; kill < RUNS; kill++) {
      await delay(random.between(KILL_AFTER_MS.from, KILL_AFTER_MS.to));
      const node = random.pick(nodes);
      await node.end('SIGKILL');
      await node.start();
    }
    isOver = true;
    await Promise.all(loads);
    const { events, repeated } = await hooks.settle(nodes[0]!.origin);
    const mayRepeat = RUNS * ENDPOINTS * NOT_NOTED;
    assert.ok(repeated <= mayRepeat, `${repeated} came again, ${mayRepeat} may`);
    return `${RUNS} kills, ${events} events to ${ENDPOINTS} endpoints: 0 lost, ${repeated} came again though they were not refused`;
  } finally {
    await hooks.close();
  }
}

describe('webhooks', { concurrency: 3 }, () => {
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

  test('what a killed node was sending is sent by another within 30 seconds', async (context) => {
    const site = await startSite({ nodes: 2, random: new SeededRandom() });
    const [killed, other] = site.nodes as [NodeProcess, NodeProcess];
    const receiver = await WebhookReceiver.start();
    try {
      // The one that is to be killed is alone until it has the lease and its attempt runs.
      await Promise.all([site.harness.stop(), other.end('SIGTERM')]);
      receiver.reply = () => {}; // never answers
      const made = await ask(killed.origin, '/v1/webhook_endpoints', {
        method: 'POST',
        body: { url: receiver.url() },
      });
      assert.equal(made.status, 201);
      await ask(killed.origin, '/v1/payments', { method: 'POST', body: { amount: 1 } });
      const [first] = await receiver.have(1);
      await other.start();
      receiver.reply = answering(204);
      await killed.end('SIGKILL');
      const killedAt = Date.now();
      const second = (await receiver.have(2))[1]!;
      assert.equal(second.id, first!.id);
      const tookMs = second.at - killedAt;
      assert.ok(tookMs <= TAKEN_OVER_MS, `after ${tookMs} ms`);
      context.diagnostic(`sent by another node ${tookMs} ms after the kill`);
    } finally {
      await receiver.close();
      await site.harness.start();
      await site.close();
    }
  });
});
