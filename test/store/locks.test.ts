// SQLite keeps other processes off by locks of the whole process. Whatever opens and closes such a file beside SQLite drops them all:
// then a backup beside the server empties the index that the server reads, and the server ends by SIGBUS.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { SQLITE_FILE } from '../../src/store/open.ts';
import { signIn } from '../support/console.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { locksOn, tellsLocks } from '../support/locks.ts';

describe('the locks of a SQLite store', { skip: !tellsLocks && 'the system does not list locks' }, () => {
  let service: Harness;
  before(async () => {
    service = await startHarness('sqlite');
    await service.create();
  });
  after(() => service.close());

  /** A lock on the database for each connection, and one on the index of the log. */
  const held = () => ['', '-shm'].map((end) => locksOn(join(service.store.storage, SQLITE_FILE) + end) > 0);

  test('are held while the server looks at its own health, and at what every other page shows.', async () => {
    assert.deepEqual(held(), [true, true]);
    const client = await signIn(service);
    for (const path of [
      'health',
      'audit',
      'queue',
      'payments',
      'statements',
      'merchants',
      'mail',
      'webhooks',
    ])
      assert.equal((await client.get(`/${path}`)).status, 200, path);
    assert.deepEqual(held(), [true, true]);
  });
});
