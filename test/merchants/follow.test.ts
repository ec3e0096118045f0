// How a node's directory is kept to the store: in few statements, keys first, and without what is over.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { entriesAbout, newestEntry } from '../../src/journal/queries.ts';
import { newSecret, sha256Hex } from '../../src/lib/secrets.ts';
import { Directory } from '../../src/merchants/directory.ts';
import { directoryListeners, lookUpCaller } from '../../src/merchants/follow.ts';
import type { Row, Value } from '../../src/store/database.ts';
import { KEY, OTHER_KEY, sharedHarness } from '../support/harness.ts';
import { idOfKey } from '../support/keys.ts';
import { editOutside } from '../support/outside.ts';
import { otherNode } from '../support/people.ts';
import { addMerchant, unaware } from '../support/store-merchant.ts';
import { ENGINES } from '../support/stores.ts';

for (const engine of ENGINES)
  describe(`a directory and its store on ${engine}`, () => {
    const harness = sharedHarness(engine);
    /** Makes a merchant and revokes its key. */
    async function revoked() {
      const made = await addMerchant(harness);
      const { key, row } = made;
      const { status } = await harness.request(`/v1/api_keys/${row.id}/revoke`, { method: 'POST', key });
      assert.equal(status, 200);
      return made;
    }
    test('a page of entries costs two statements of each table, its rows and their entries, and keys are heard first.', async () => {
      const { database } = harness.service;
      let statements = 0;
      const counting = {
        query<R = Row>(sql: string, ...values: Value[]) {
          statements++;
          return database.query<R>(sql, ...values);
        },
      };
      const directory = new Directory([]);
      const listeners = directoryListeners(counting, directory, harness.clock);
      assert.deepEqual(
        listeners.map(({ prefix }) => prefix),
        ['key_', 'mer_'],
      );
      const made = await Promise.all(Array.from({ length: 20 }, () => addMerchant(harness)));
      for (const { prefix, hear } of listeners)
        await hear(await entriesAbout(database, prefix, 0, await newestEntry(database), 500));
      assert.equal(statements, 4);
      for (const { key, merchant } of made)
        assert.equal(directory.find(key, harness.clock.now())?.merchant.id, merchant.id);
    });

    test('a key that is not known is looked for once the flush is over that holds what reads see.', async () => {
      const { database } = harness.service;
      const { key } = await addMerchant(harness);
      const flushed = Promise.withResolvers<void>();
      let isOver = false;
      const slow = {
        query: <R = Row>(sql: string, ...values: Value[]) => database.query<R>(sql, ...values),
        flushing: flushed.promise,
        refresh: () => assert.ok(isOver),
      };
      const looking = lookUpCaller(slow, new Directory([]), key, harness.clock.now());
      setImmediate(() => {
        isOver = true;
        flushed.resolve();
      });
      assert.ok((await looking).caller);
    });

    test('a node that starts takes no keys that are over, but to list them.', async () => {
      const { database } = harness.service;
      const over = await revoked();
      const working = await addMerchant(harness);
      for (const [options, count] of [
        [{}, 0],
        [{ keepsOver: true }, 1],
      ] as const) {
        const directory = new Directory([], options);
        for (const { load } of directoryListeners(database, directory, harness.clock)) await load();
        assert.equal(directory.keysOf(over.merchant.id).length, count);
        assert.equal(directory.find(over.key, harness.clock.now()), undefined);
        assert.ok(directory.find(working.key, harness.clock.now()));
      }
    });

    test('a key whose row was edited in the store lets nobody in where it was known, and where it is listed.', async () => {
      const { database } = harness.service;
      const { key, row, merchant } = await addMerchant(harness);
      const running = new Directory([]);
      const [keys, merchants] = directoryListeners(database, running, harness.clock);
      await keys!.load();
      await merchants!.load();
      assert.ok(running.find(key, harness.clock.now()));
      await editOutside(harness.store, `update api_keys set name = 'Mine' where id = '${row.id}'`);
      database.refresh();
      await keys!.hear(await entriesAbout(database, 'key_', 0, await newestEntry(database), 500));
      const listing = new Directory([], { keepsOver: true });
      for (const { load } of directoryListeners(database, listing, harness.clock)) await load();
      assert.equal(listing.keysOf(merchant.id).length, 1);
      for (const directory of [running, listing])
        assert.equal(directory.find(key, harness.clock.now()), undefined);
      await editOutside(harness.store, `update api_keys set name = null where id = '${row.id}'`);
      database.refresh();
    });

    test('a node that reads an older file takes its keys for itself alone.', async () => {
      const { database } = harness.service;
      const key = newSecret('cfk_test_');
      const keys = [{ id: idOfKey(key), digest: sha256Hex(key), mode: 'test', expires_at: null } as const];
      const shop = { id: 'mer_rolling', name: 'Corner Shop', website: null, support: null, methods: null };
      const [older, newer] = [new Directory([]), new Directory([])];
      const load = async () => {
        for (const directory of [older, newer])
          for (const listener of directoryListeners(database, directory, harness.clock))
            await listener.load();
      };
      newer.replace([{ ...shop, limits: {}, keys: [] }]);
      older.replace([{ ...shop, limits: {}, keys }]);
      await load();
      assert.ok(older.find(key, harness.clock.now()));
      const looked = await lookUpCaller(database, newer, key, harness.clock.now());
      assert.deepEqual(looked, {});
      assert.equal(newer.find(key, harness.clock.now()), undefined);
    });

    test('the key that everybody knows opens nothing out of the store.', async () => {
      const { row } = await addMerchant(harness);
      const shop = { id: row.merchant_id, name: 'Shop', website: null, support: null, methods: null };
      const directory = new Directory([{ ...shop, limits: {}, keys: [] }]);
      for (const key of [OTHER_KEY, KEY])
        directory.putKey({ ...row, id: idOfKey(key), digest: sha256Hex(key) });
      assert.ok(directory.find(OTHER_KEY, harness.clock.now()));
      assert.equal(directory.find(KEY, harness.clock.now()), undefined);
    });

    test('a key that is made beside the running server works at its next request.', async () => {
      const { database, journal, close } = await otherNode(harness);
      const beside = unaware({ service: { ...harness.service, database, journal } });
      try {
        for (let isStale = engine === 'postgres'; ; ) {
          assert.equal((await harness.request('/v1/payments')).status, 200); // what it read is what reads share
          const { key, row } = await addMerchant(beside);
          const known = 'select id from api_keys where id = ?';
          isStale ||= (await harness.service.database.query(known, row.id)).length === 0;
          assert.equal((await harness.request('/v1/payments', { key })).status, 200);
          if (isStale) break; // else a tenth of a second has passed, and nothing was shown
        }
      } finally {
        await close();
      }
    });
  });
