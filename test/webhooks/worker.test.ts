// The worker's looks: commits that follow each other closely are gathered, and never put a look off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { silent } from '../../src/lib/log.ts';
import { WebhookWorker } from '../../src/webhooks/worker.ts';

const STEP_MS = 5;

test('a second of commits, one every 5 ms, has a look every 50 ms or so.', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let looks = 0;
  const database = {
    engine: 'postgres',
    async query(sql: string) {
      if (sql.includes('from webhook_endpoints')) return [{ id: 'whe_1', version: 1, disabled_at: null }];
      looks += 1;
      throw new Error('the first read of a look fails, which ends it');
    },
  };
  const parts = { database, journal: {} } as unknown as ConstructorParameters<typeof WebhookWorker>[0];
  const worker = new WebhookWorker(parts, silent);
  await worker.listener().load();
  worker.start(() => false);
  for (let ms = 0; ms < 1000; ms += STEP_MS) {
    worker.wake();
    context.mock.timers.tick(STEP_MS);
    await settled();
  }
  assert.ok(looks >= 10 && looks <= 20, `${looks} looks`);
  await worker.stop();
});
