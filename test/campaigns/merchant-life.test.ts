// From registration to a revoked key, over two nodes and a moved clock: what one node did, every node knows within a second.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS, SECOND_MS } from '../../src/lib/time.ts';
import { awakeMs } from '../support/awake.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES } from '../support/stores.ts';
import { type Nodes, startNodes } from './nodes.ts';

/** COUNTERFOIL_RUNS=100 is the long form. */
const LIVES = Number(process.env.COUNTERFOIL_RUNS) || 5;
/** At the same moment. */
const AT_ONCE = 5;
const REFUSED_WITHIN_MS = SECOND_MS;
const ASKED_EVERY_MS = 5;
/** Revocations come at any moment between two rounds of whoever follows the journal. */
const ROUND_MS = 500;
/** Merchant, first key, payment, second key, the first's end, the second's. */
const ENTRIES_OF_A_LIFE = 6;
const MANY = 'registration: { per_address: 1000000, per_hour: 1000000 }\n';

interface Key {
  id: string;
  key: string;
}

for (const engine of ENGINES) {
  describe(`the life of a merchant on ${engine}`, () => {
    const random = new SeededRandom();
    let nodes: Nodes;
    /** What nobody may write down. */
    const secrets: string[] = [];
    const tookMs: number[] = [];

    before(async () => {
      console.log(`merchant-life on ${engine}: seed ${random.seed} (COUNTERFOIL_SEED)`);
      nodes = await startNodes(engine, MANY);
    });
    after(() => nodes.close());

    // biome-ignore lint/suspicious/noExplicitAny: what is asserted of an answer says what it must be
    async function call(origin: string, path: string, key: string | null, body?: object): Promise<any> {
      const headers = {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body && { 'content-type': 'application/json' }),
      };
      const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
      const response = await fetch(origin + path, init);
      const text = await response.text();
      assert.ok(response.ok, `${path}: ${response.status} ${text}`);
      return response.headers.get('content-type')!.includes('json') ? JSON.parse(text).data : text;
    }

    const anyNode = () => random.pick(nodes.origins);

    async function statusAt(origin: string, { key }: Key): Promise<number> {
      const response = await fetch(`${origin}/v1/payments?limit=1`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await response.arrayBuffer();
      return response.status;
    }

    const everywhere = (key: Key) => Promise.all(nodes.origins.map((origin) => statusAt(origin, key)));
    const all = (status: number) => nodes.origins.map(() => status);

    /** Registers, has a payment and its page, and replaces the key; every step at any node. Gives both keys. */
    async function grow(name: string): Promise<{ old: Key; key: Key }> {
      const email = `${name}@life.example`;
      const registered = await call(anyNode(), '/register', null, { business_name: name, email });
      const old = { id: registered.api_key_id, key: registered.api_key };
      const body = { amount: 4.5, currency: 'EUR' };
      const { id, merchant_name } = await call(anyNode(), '/v1/payments', old.key, body);
      assert.equal(merchant_name, name);
      const page = await call(anyNode(), `/payment.php?payment_id=${id}`, null);
      assert.ok(page.includes(name), 'checkout says who is paid');
      const overlap = { overlap_seconds: HOUR_MS / SECOND_MS };
      const made = await call(anyNode(), `/v1/api_keys/${old.id}/rotate`, old.key, overlap);
      const key = { id: made.id, key: made.key };
      secrets.push(email, old.key, key.key);
      assert.deepEqual([await everywhere(old), await everywhere(key)], [all(200), all(200)]);
      return { old, key };
    }

    /** Revokes a key at a moment of chance. Gives for how long, at most, a node took it after that was answered, in milliseconds. */
    async function end(key: Key): Promise<number> {
      const pause = random.between(0, ROUND_MS);
      const origin = anyNode();
      await sleep(pause);
      const revoked = await call(origin, `/v1/api_keys/${key.id}/revoke`, key.key, {});
      assert.equal(revoked.status, 'revoked');
      return refusedAfter(key);
    }

    /** How long it takes, in milliseconds, until every node refuses a key. */
    async function refusedAfter(key: Key): Promise<number> {
      const begun = awakeMs();
      const refusedBy = async (origin: string) => {
        while ((await statusAt(origin, key)) !== 401) {
          assert.ok(awakeMs() - begun < 10 * SECOND_MS, `${origin} never refused ${key.id}`);
          await sleep(ASKED_EVERY_MS);
        }
      };
      await Promise.all(nodes.origins.map(refusedBy));
      return awakeMs() - begun;
    }

    test(`${LIVES} merchants register, are paid, replace their key and revoke it.`, async (t) => {
      for (let lived = 0; lived < LIVES; lived += AT_ONCE) {
        const names = Array.from({ length: Math.min(AT_ONCE, LIVES - lived) }, (_, i) => `life${lived + i}`);
        const grown = await Promise.all(names.map(grow));
        nodes.harness.clock.advance(HOUR_MS + SECOND_MS);
        for (const { old, key } of grown) {
          // An hour of the tests is over before the other node hears that it has begun.
          assert.ok((await refusedAfter(old)) < REFUSED_WITHIN_MS, 'the overlap does not end');
          assert.deepEqual(await everywhere(key), all(200));
        }
        tookMs.push(...(await Promise.all(grown.map(({ key }) => end(key)))));
        for (const { old, key } of grown)
          assert.deepEqual([await everywhere(old), await everywhere(key)], [all(401), all(401)], 'for good');
      }
      const sorted = tookMs.toSorted((one, other) => one - other);
      const median = sorted[Math.floor(sorted.length / 2)]!;
      const slowest = sorted.at(-1)!;
      t.diagnostic(
        `refused on ${nodes.origins.length} nodes after ${Math.round(median)} ms (median), ${Math.round(slowest)} ms (slowest of ${LIVES})`,
      );
      assert.ok(slowest < REFUSED_WITHIN_MS, `the slowest took ${slowest} ms`);
    });

    test('its history verifies, and neither a key nor an address stands in it or in the logs.', async () => {
      const verified = await nodes.harness.verify();
      const entries = await nodes.harness.service.database.query('select * from audit_entries');
      assert.equal(verified.entries, entries.length);
      assert.ok(entries.length >= ENTRIES_OF_A_LIFE * LIVES);
      const written = JSON.stringify(entries) + nodes.harness.logged.join('\n');
      assert.ok(nodes.harness.logged.length >= LIVES);
      for (const secret of secrets) assert.ok(!written.includes(secret), 'a secret is written down');
    });
  });
}
