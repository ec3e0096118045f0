// kill -9 while keys are made, replaced and revoked: what was acknowledged holds after the restart, the rest is whole or absent.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { keyDigest, keyId } from '../../src/merchants/merchant.ts';
import { freePort } from '../support/free-ports.ts';
import { writeConfiguration } from '../support/harness.ts';
import { verifySqlite } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';

/** Few enough that the keys which each kill leaves behind stay below what one merchant may have. */
const KILLS = 4;
const CLIENTS = 4;
/** How many keys each client leaves working, beside the one that it is at. */
const WORKING = 1;

/** What a server is known to answer to each key, by what it acknowledged; nothing of a key that was in the air when it died. */
type Known = Map<string, 200 | 401>;

/** A new merchant's key. */
async function register(origin: string): Promise<string> {
  const response = await fetch(`${origin}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ business_name: `Key Shop ${randomUUID()}`, email: 'keys@shop.example' }),
  });
  const { data } = (await response.json()) as { data: { api_key: string } };
  return data.api_key;
}

/**
 * Makes a key, replaces it without an overlap, revokes the oldest of the few that work, and so on until the server is gone. `underWay` is
 * told each time that one was revoked.
 */
async function churn(origin: string, known: Known, underWay: () => void): Promise<void> {
  let merchant = '';
  const post = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${merchant}`, 'content-type': 'application/json' };
    const response = await fetch(`${origin}/v1/api_keys${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body ?? {}),
    });
    const answer = (await response.json()) as { data: { key: string } };
    assert.ok(response.ok, JSON.stringify(answer));
    return answer.data.key;
  };
  const idOf = (key: string) => keyId(keyDigest(key));
  const working: string[] = [];
  try {
    merchant = await register(origin); // each its own, since one merchant makes a limited number of keys
    for (;;) {
      const first = await post('', {});
      const second = await post(`/${idOf(first)}/rotate`, { overlap_seconds: 0 });
      known.set(first, 401).set(second, 200);
      working.push(second);
      if (working.length <= WORKING) continue;
      const ended = working.shift()!;
      known.delete(ended); // until it is acknowledged either will do
      await post(`/${idOf(ended)}/revoke`);
      known.set(ended, 401);
      underWay();
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error; // else the server is gone
  }
}

test(`${KILLS} kills while keys change hands lose nothing that was acknowledged`, async (context) => {
  const random = new SeededRandom();
  context.diagnostic(`seed ${random.seed} (COUNTERFOIL_SEED)`);
  const store = await temporaryStore('sqlite');
  const config = writeConfiguration(
    store,
    'development',
    'log_level: error\nregistration: { per_address: 1000 }\n',
  );
  const port = await freePort();
  const start = () => startServerProcess({ config, port, storage: store.storage });
  let server = await start();
  // A test that fails must not leave its server behind, for which the run would wait.
  context.after(async () => {
    await server.end('SIGKILL');
    await store.drop();
  });
  const known: Known = new Map();
  for (let kill = 0; kill < KILLS; kill++) {
    const firsts = Array.from({ length: CLIENTS }, () => Promise.withResolvers<void>());
    const clients = Promise.all(firsts.map(({ resolve }) => churn(server.origin, known, resolve)));
    // In most rounds each has had enough acknowledged by then, however slow the machine is; in some nothing is sure.
    if (kill % 3 < 2) await Promise.race([Promise.all(firsts.map(({ promise }) => promise)), clients]);
    await delay(random.between(0, 500));
    await server.end('SIGKILL');
    await clients;
    server = await start();
    for (const [key, status] of known) {
      const headers = { authorization: `Bearer ${key}` };
      assert.equal((await fetch(`${server.origin}/v1/payments?limit=1`, { headers })).status, status);
    }
    await verifySqlite(join(store.storage, 'counterfoil.sqlite'), store.storage);
  }
  const working = [...known.values()].filter((status) => status === 200).length;
  context.diagnostic(`${known.size} keys, ${working} of them working`);
  assert.ok(working > KILLS && known.size > 10 * KILLS, 'much was acknowledged');
  assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
});
