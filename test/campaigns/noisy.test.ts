// Merchants whose receivers hold what they can of a node: another merchant's reads and webhooks take at most twice as long as without them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newSecret } from '../../src/lib/secrets.ts';
import { ROOT } from '../support/command.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { loadClient } from '../support/load-client.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { type Store, temporaryStore } from '../support/stores.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

const MERCHANTS = 8;
const ENDPOINTS = 16;
const DEEDS = ['interim', 'hints', 'body', 'drip', 'silent'];
/** Payments of a noisy merchant at the beginning: 128 endpoints with four attempts each would take all slots of a node. */
const PAYMENTS = 4;
/**
 * Between two more of its payments. Each is an event for 16 endpoints, so that it is the receivers that are felt, not the load. The long form
 * wants a quiet machine: 850 deliveries a second of all, were none held back.
 */
const EVERY_MS = process.env.COUNTERFOIL_RUNS ? 150 : 2000;
const READS = 200;
const WEBHOOKS = 12;
const MOST_TIMES = 2;

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

interface Medians {
  readMs: number;
  webhookMs: number;
}

describe('beside merchants with hostile receivers', () => {
  let store: Store;
  let server: ServerProcess;
  let receiver: WebhookReceiver;
  const keys = Array.from({ length: MERCHANTS }, () => newSecret('cfk_test_'));
  const hostile = spawn(process.execPath, [join(ROOT, 'test/campaigns/hostile-receivers.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  before(async () => {
    const merchants = keys.map(
      (key, at) => `  - id: mer_noisy${at}\n    name: Noisy ${at}\n    keys: [{ key: ${key} }]\n`,
    );
    store = await temporaryStore('sqlite');
    const config = writeConfiguration(store, 'development', merchants.join(''));
    server = await startServerProcess({ config, port: 0, storage: store.storage });
    receiver = await WebhookReceiver.start();
    receiver.isUntold = true;
  });
  after(async () => {
    await server.end('SIGKILL');
    hostile.kill();
    await receiver.close();
    await store.drop();
  });

  test(`the medians are at most ${MOST_TIMES} times the quiet ones`, async () => {
    const quiet = loadClient(server.origin, KEY, 1);
    const made = await quiet.post('/v1/webhook_endpoints', { url: receiver.url() });
    assert.ok(made?.status === 201, `${made?.text}`);
    const port = Number((await once(hostile.stdout!, 'data'))[0]);
    const noisy = keys.map((key) => loadClient(server.origin, key, 1));

    const measure = async (): Promise<Medians> => {
      const webhooks: number[] = [];
      const reads: number[] = [];
      for (let i = 0; i < WEBHOOKS; i++) {
        const { length } = receiver.received;
        const begun = performance.now();
        const created = await quiet.post('/v1/payments', { amount: 1 });
        assert.ok(created?.status === 201, `${created?.text}`);
        const { id } = JSON.parse(created.text).data;
        await receiver.have(length + 1);
        webhooks.push(performance.now() - begun);
        const path = `/v1/payments/${id}`;
        for (let read = 0; read < READS / WEBHOOKS; read++) {
          const asked = performance.now();
          assert.equal((await quiet.get(path))?.status, 200);
          reads.push(performance.now() - asked);
        }
      }
      return { readMs: median(reads), webhookMs: median(webhooks) };
    };

    await measure(); // warm
    const before = await measure();
    for (const [merchant, client] of noisy.entries())
      for (let n = 0; n < ENDPOINTS; n++) {
        const deed = DEEDS[(merchant + n) % DEEDS.length];
        const url = `http://h${n}.m${merchant}.localhost:${port}/${deed}/${n}`;
        const answer = await client.post('/v1/webhook_endpoints', { url });
        assert.ok(answer?.status === 201, `${answer?.text}`);
      }
    const noise = new AbortController();
    const making = Promise.all(
      noisy.map(async (client) => {
        let made = 0;
        while (!noise.signal.aborted) {
          await client.post('/v1/payments', { amount: 1 });
          await delay(++made < PAYMENTS ? 0 : EVERY_MS);
        }
      }),
    );
    await delay(1000);
    const beside = await measure();
    noise.abort();
    await making;
    hostile.kill();
    await delay(1000);
    const afterwards = await measure();
    for (const client of [quiet, ...noisy]) client.close();

    // The machine's own load changes meanwhile: the slower of the two quiet times counts.
    const ratios = (['readMs', 'webhookMs'] as const).map((what) => {
      const calm = Math.max(before[what], afterwards[what]);
      console.log(
        `${what}: quiet ${before[what].toFixed(1)} and ${afterwards[what].toFixed(1)} ms, beside ${beside[what].toFixed(1)} ms`,
      );
      return beside[what] / calm;
    });
    for (const ratio of ratios) assert.ok(ratio <= MOST_TIMES, `${ratio.toFixed(2)} times as long`);
  });
});
