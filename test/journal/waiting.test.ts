// Nobody waits for ever: a held lock, a queue behind a store that is gone, a backlog at the stop.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { OperationalError } from '../../src/lib/errors.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { startHarness } from '../support/harness.ts';
import { temporaryStore } from '../support/stores.ts';

const LOCK_HELD_MS = 1500;
const BACKLOG = 3000;
/** As in `journal.ts`. */
const LARGEST_BATCH = 256;
const LONGEST_WAIT_MS = 5000;

describe('nobody waits for ever', () => {
  test('while another process holds the write lock, reads are answered at once and writes when it lets go.', async () => {
    const service = await startHarness('sqlite');
    const { id } = await service.create();
    const other = new DatabaseSync(join(service.store.storage, 'counterfoil.sqlite'));
    other.exec('begin immediate');
    const creating = service.create();
    let slowest = 0;
    for (const until = performance.now() + LOCK_HELD_MS; performance.now() < until; ) {
      const begun = performance.now();
      assert.equal((await service.request(`/v1/payments/${id}`)).status, 200);
      slowest = Math.max(slowest, performance.now() - begun);
    }
    other.exec('rollback');
    other.close();
    assert.equal((await creating).status, 'pending');
    assert.ok(slowest < LOCK_HELD_MS / 2, `the slowest read took ${slowest} ms`);
    await service.close();
  });

  test('when a batch finds the store gone, what queued behind it is refused with it.', async () => {
    const service = await startHarness('postgres');
    const { journal, database } = service.service;
    await service.create();
    const begun: number[] = [];
    const results = await Promise.allSettled(
      Array.from({ length: 600 }, (_, i) =>
        journal.commit(async (transaction) => {
          begun.push(i);
          if (i === 0) {
            await transaction.query('select pg_terminate_backend(pg_backend_pid())');
          }
        }),
      ),
    );
    assert.ok(results.every(({ status }) => status === 'rejected'));
    assert.equal(begun.length, 1, 'no work behind it was begun');
    assert.equal((await database.query('select 1 as one')).length, 1);
    await service.create();
    await service.close();
  });

  test('a batch that is full does not wait for sockets, of which a flood always has one that is readable.', async (context) => {
    const service = await startHarness('sqlite');
    context.after(() => service.close());
    let turns = 0;
    const turn = () => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await Promise.all(Array.from({ length: LARGEST_BATCH }, () => service.service.journal.commit(() => 1)));
    clearImmediate(next);
    assert.equal(turns, 0);
  });

  test('a work whose turn comes after five seconds is refused: nobody waits for it any more.', async (context) => {
    const service = await startHarness('sqlite');
    context.after(() => service.close());
    const { journal } = service.service;
    const slow = journal.commit(() => delay(LONGEST_WAIT_MS + 100));
    await delay(50); // it has begun
    let done = false;
    const late = journal.commit(() => {
      done = true;
    });
    await assert.rejects(late, (error) => error instanceof OperationalError && error.code === 'unavailable');
    await slow;
    assert.equal(done, false);
    await service.create();
  });

  test('a stop does not wait for a backlog of payments whose time has passed.', async () => {
    const service = await startHarness('sqlite');
    for (let made = 0; made < BACKLOG; made += 100) {
      await Promise.all(Array.from({ length: 100 }, () => service.create({ expires_in: 300 })));
    }
    service.clock.advance(DAY_MS);
    await new Promise((resolve) => setTimeout(resolve, 1010)); // the sweeper has begun
    const begun = performance.now();
    await service.stop();
    assert.ok(performance.now() - begun < 2000);
    await service.start();
    const list = await service.request('/v1/payments?status=pending');
    assert.deepEqual(list.json.data, []);
    await service.verify();
    await service.close();
  });

  test('a connection string may not overrule what makes an answer durable.', async () => {
    const store = await temporaryStore('postgres');
    for (const parameter of [
      'options=-c%20synchronous_commit%3Doff',
      'statement_timeout=0',
      'query_timeout=0',
    ]) {
      await assert.rejects(
        openPostgres(`${store.database_url}?${parameter}`),
        (error) =>
          error instanceof DatabaseError && error.failure === 'fault' && /may not set/.test(error.message),
      );
    }
    await store.drop();
  });
});
