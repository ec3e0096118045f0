// When keys were last used: told at once, written down once a minute beside the requests, kept over a restart, on every node.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Journal } from '../../src/journal/journal.ts';
import { MINUTE_MS } from '../../src/lib/time.ts';
import { KeyUses } from '../../src/merchants/key-uses.ts';
import { keyDigest, keyId } from '../../src/merchants/merchant.ts';
import { type Nodes, startNodes } from '../campaigns/nodes.ts';
import { entryCount } from '../support/admin.ts';
import { type Harness, KEY, OTHER_KEY } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';

const [ID, OTHER_ID] = [KEY, OTHER_KEY].map((key) => keyId(keyDigest(key))) as [string, string];
const SWEEP_EVERY_MS = 1000;
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
    });
    after(() => nodes.close());

    const usedAt = async (uses = service.service.keyUses, id = ID) =>
      (await uses.lastUsed(service.service.database, [id])).get(id);
    const rows = () => service.service.database.query('select key_id from api_key_uses');
    const call = (key = KEY) => service.request('/v1/payments?limit=1', { key });

    test('requests commit nothing; what they used is written down in one commit, and no entry tells of it.', async () => {
      const { journal, keyUses } = service.service;
      // A key's first use is written within a second, so both keys have been used before, and that is written.
      for (const key of [KEY, OTHER_KEY]) await call(key);
      await keyUses.write();
      const before = minuteOf(service.clock.now());
      service.clock.advance(MINUTE_MS - (service.clock.now() % MINUTE_MS)); // no minute ends between two calls
      const entries = await entryCount(service);
      const [commits, begun] = [journal.counters.commits, performance.now()];
      for (let i = 0; i < 100; i++) await call(i % 2 === 0 ? KEY : OTHER_KEY);
      const sweeps = 1 + (performance.now() - begun) / SWEEP_EVERY_MS; // each commits once, the first twice
      assert.ok(journal.counters.commits - commits <= sweeps + 1, 'the sweeper alone');
      assert.equal(await usedAt(new KeyUses(journal)), before, 'not written yet');
      assert.equal(await usedAt(), minuteOf(service.clock.now()), 'told from memory until then');
      const writes = worksOnUses(journal);
      await keyUses.write();
      assert.equal(writes(), 1);
      assert.equal((await rows()).length, 2);
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

    test('another node knows it once it is written, and an older use of its own takes nothing back.', async () => {
      const { journal } = service.service;
      const later = minuteOf(service.clock.now()) + MINUTE_MS;
      const [one, other] = [new KeyUses(journal), new KeyUses(nodes.services.at(-1)!.journal)];
      other.note(ID, later - 5 * MINUTE_MS);
      one.note(ID, later + 1);
      await one.write();
      assert.equal(await usedAt(other), later);
      await other.write();
      assert.equal(
        await usedAt(new KeyUses(journal)),
        later,
        'as the store has it, whatever either remembers',
      );
      assert.equal(await usedAt(new KeyUses(journal), 'key_never'), undefined);
    });

    test('it is kept over a restart: the stop writes what was not written yet.', async () => {
      service.clock.advance(10 * MINUTE_MS);
      await call(OTHER_KEY);
      const used = minuteOf(service.clock.now());
      await service.stop();
      await service.start();
      nodes.services[0] = service.service;
      nodes.origins[0] = service.origin;
      const uses = await service.service.keyUses.lastUsed(service.service.database, [OTHER_ID]);
      assert.equal(uses.get(OTHER_ID), used);
    });

    test('what the store refuses is written the next time.', async () => {
      const { database, journal } = service.service;
      const uses = new KeyUses(journal);
      const at = minuteOf(service.clock.now()) + 100 * MINUTE_MS;
      uses.note(ID, at);
      uses.note('key_b', at);
      await database.script('alter table api_key_uses rename to away');
      await assert.rejects(uses.write());
      await database.script('alter table away rename to api_key_uses');
      await uses.write();
      assert.equal(await usedAt(new KeyUses(journal)), at);
    });

    test('a thousand keys are written in five commits and read with three statements.', async () => {
      const { journal, database } = service.service;
      const uses = new KeyUses(journal);
      const ids = Array.from({ length: 1000 }, (_, i) => `key_${String(i).padStart(16, '0')}`);
      const at = minuteOf(service.clock.now());
      for (const id of ids) uses.note(id, at);
      const writes = worksOnUses(journal);
      await uses.write();
      assert.equal(writes(), 5);
      assert.equal((await new KeyUses(journal).lastUsed(database, [...ids, 'key_x'])).size, 1000);
    });
  });
