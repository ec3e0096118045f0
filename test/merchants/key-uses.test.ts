// When keys were last used: told at once, written down once a minute beside the requests, kept over a restart, on every node.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Journal } from '../../src/journal/journal.ts';
import { MINUTE_MS } from '../../src/lib/time.ts';
import { type Nodes, startNodes } from '../campaigns/nodes.ts';
import { entryCount } from '../support/admin.ts';
import { ask, type Harness, KEY, OTHER_KEY } from '../support/harness.ts';
import { idOfKey } from '../support/keys.ts';
import { ENGINES } from '../support/stores.ts';

type KeyUses = Harness['service']['keyUses'];

const [ID, OTHER_ID] = [idOfKey(KEY), idOfKey(OTHER_KEY)];
const minuteOf = (ms: number) => ms - (ms % MINUTE_MS);

/**
 * Counts what a journal is given to do with uses of keys from now on. Each such work waits for the one before, and so has a commit
 * of its own; the journal's own count of commits has the sweeper's in it too.
 */
function worksOnUses(journal: Journal): () => number {
  let count = 0;
  const commit = journal.commitAside;
  journal.commitAside = (work, row) => {
    if (row === 'api_key_uses') count += 1;
    return commit.call(journal, work, row) as ReturnType<typeof work> & Promise<never>;
  };
  return () => count;
}

for (const engine of ENGINES)
  describe(`last uses of keys on ${engine}`, () => {
    let nodes: Nodes;
    let service: Harness;
    before(async () => {
      nodes = await startNodes(engine);
      service = nodes.harness;
      service.clock.stop(); // no minute ends between two calls
    });
    after(() => nodes.close());

    /** What a node tells of a key. */
    const told = async (node = 0, id = ID) => {
      const key = id === ID ? KEY : OTHER_KEY;
      const { last_used_at } = (await ask(nodes.origins.at(node)!, `/v1/api_keys/${id}`, { key })).json.data;
      return last_used_at && Date.parse(last_used_at);
    };
    /** What the store has, by the ids of keys. */
    const written = async () => {
      const sql = 'select key_id, used_at from api_key_uses';
      const rows = await service.service.database.query<{ key_id: string; used_at: number }>(sql);
      return Object.fromEntries(rows.map(({ key_id, used_at }) => [key_id, Number(used_at)]));
    };
    const call = (key = KEY) => service.request('/v1/payments?limit=1', { key });

    test('requests commit nothing; what they used is written down in one commit, and no entry tells of it.', async (context) => {
      const { journal, keyUses } = service.service;
      const stopped = performance.now();
      context.mock.method(performance, 'now', () => stopped); // or a minute passes, and the service writes by itself
      // A key's first use is written within a second, so both keys have been used before, and that is written.
      for (const key of [KEY, OTHER_KEY]) await call(key);
      await keyUses.write();
      const before = minuteOf(service.clock.now());
      service.clock.advance(MINUTE_MS);
      const now = minuteOf(service.clock.now());
      const entries = await entryCount(service);
      const writes = worksOnUses(journal);
      for (let i = 0; i < 100; i++) await call(i % 2 === 0 ? KEY : OTHER_KEY);
      assert.equal(writes(), 0);
      assert.deepEqual(await written(), { [ID]: before, [OTHER_ID]: before });
      assert.equal(await told(), now, 'told from memory until then');
      await keyUses.write();
      assert.equal(writes(), 1);
      assert.deepEqual(await written(), { [ID]: now, [OTHER_ID]: now });
      await call();
      await keyUses.write();
      assert.equal(writes(), 1, 'within one minute there is nothing new');
      service.clock.advance(MINUTE_MS);
      await call();
      await keyUses.write();
      assert.equal(writes(), 2);
      assert.equal(await entryCount(service), entries);
      await service.verify();
    });

    if (engine === 'postgres')
      test('another node knows it once it is written, and an older use of its own takes nothing back.', async () => {
        const [one, other] = nodes.services.map(({ keyUses }) => keyUses) as [KeyUses, KeyUses];
        service.clock.advance(20 * MINUTE_MS);
        const now = minuteOf(service.clock.now());
        other.note(OTHER_ID, now - 5 * MINUTE_MS);
        one.note(OTHER_ID, now - 2 * MINUTE_MS + 1);
        await one.write();
        await other.write();
        assert.equal((await written())[OTHER_ID], now - 2 * MINUTE_MS, 'whatever either remembers');
        const { database } = service.service;
        assert.equal((await other.lastUsed(database, [OTHER_ID])).get(OTHER_ID), now - 2 * MINUTE_MS);
        assert.equal(await told(1, OTHER_ID), now, 'and this request is a use');
      });

    test('it is kept over a restart: the stop writes what was not written yet.', async () => {
      service.clock.advance(10 * MINUTE_MS);
      await call(OTHER_KEY);
      const used = minuteOf(service.clock.now());
      await service.stop();
      await service.start();
      nodes.services[0] = service.service;
      nodes.origins[0] = service.origin;
      assert.equal((await written())[OTHER_ID], used);
    });

    test('what the store refuses is written the next time.', async () => {
      const { database, keyUses } = service.service;
      const at = minuteOf(service.clock.now()) + 100 * MINUTE_MS;
      await database.script('alter table api_key_uses rename to away');
      keyUses.note(ID, at);
      keyUses.note('key_b', at);
      await assert.rejects(keyUses.write()); // at once: the service writes a first use by itself
      await database.script('alter table away rename to api_key_uses');
      await keyUses.write();
      assert.equal((await written())[ID], at);
    });

    test('a thousand keys are written in five commits.', async () => {
      const { journal, keyUses, database } = service.service;
      const ids = Array.from({ length: 1000 }, (_, i) => `key_${String(i).padStart(16, '0')}`);
      const at = minuteOf(service.clock.now());
      for (const id of ids) keyUses.note(id, at);
      const writes = worksOnUses(journal);
      await keyUses.write();
      assert.equal(writes(), 5);
      assert.equal((await keyUses.lastUsed(database, [...ids, 'key_x'])).size, 1000);
    });
  });
