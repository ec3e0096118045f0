// A store whose stretches are not listed yet, as after an upgrade: reads say so until a worker has been through it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { historyOf } from '../../../src/payments/history.ts';
import { createIn, KEY, startHarness } from '../../support/harness.ts';
import { unhurried } from '../../support/journal.ts';
import { listStretches } from '../../support/payments.ts';
import { ENGINES, openPatiently } from '../../support/stores.ts';

const UNLISTED = 20_000;

for (const engine of ENGINES)
  test(`more than 20,000 entries that are not listed yet are a 503, and are read once they are listed, on ${engine}.`, async () => {
    const service = await startHarness(engine);
    const caller = service.service.directory.find(KEY, service.clock.now())!;
    await service.stop();
    const database = await openPatiently(service.store); // without the worker that lists
    try {
      const journal = unhurried(database, service.clock);
      const create = (count: number) => createIn(journal, service, count);
      const [{ entries }] = (await database.query<{ entries: number }>(
        'select entries from journal_head',
      )) as [{ entries: number }];
      for (let made = entries; made < UNLISTED; made += 500) await create(Math.min(500, UNLISTED - made));
      const tenant = { merchant_id: caller.merchant.id, mode: caller.key.mode };
      const read = () => historyOf(database, tenant, 0, 3);
      await database.script('delete from payment_stretches');
      assert.equal((await read()).length, 3, 'exactly as many as are looked through');
      await create(1);
      await assert.rejects(read, { code: 'unavailable', retryAfterS: 1 });
      await listStretches({ database, journal });
      assert.equal((await read()).length, 3);
    } finally {
      await database.close();
      await service.start();
      await service.close();
    }
  });
