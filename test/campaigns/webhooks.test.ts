// kill -9 of nodes while they deliver webhooks: every event reaches every endpoint, and only what was in flight comes twice.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { NOT_NOTED } from '../../src/webhooks/sender.ts';
import { freePort } from '../support/free-ports.ts';
import { writeConfiguration } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';
import { call, HookTally } from './hook-tally.ts';
import { NodeProcess, startSite } from './node-processes.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 10;
const ENDPOINTS = 5;
const CLIENTS = 3;
const KILL_AFTER_MS = { from: 50, to: 1500 };
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
