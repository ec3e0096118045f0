// Nobody waits for ever: a held lock, a queue behind a store that is gone, a backlog at the stop.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { OperationalError } from '../../src/lib/errors.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { DatabaseError } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { createIn, type Harness, startHarness } from '../support/harness.ts';
import { betweenWrites } from '../support/outside.ts';
import { viewSqlite } from '../support/read-only-store.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually, LONGER_THAN_A_TEST_MS } from '../support/waiting.ts';

/** Many rounds of the sweeper, which takes 200 in each. */
const BACKLOG = 3000;
/** As in `journal.ts`. */
const LARGEST_BATCH = 256;
const LEAST_LEFT_MS = 3000;

/** How many payments are written down as pending, whatever is to be seen of them. */
async function pendingIn({ store }: Harness): Promise<number> {
  const [row] = await viewSqlite(join(store.storage, 'counterfoil.sqlite'), (view) =>
    view.query<{ count: number }>("select count(*) as count from payments where status = 'pending'"),
  );
  return row!.count;
}

describe('nobody waits for ever', () => {
  test('while another process holds the write lock, reads are answered and writes when it lets go.', async (context) => {
    const service = await startHarness('sqlite');
    const { id } = await service.create();
    const other = new DatabaseSync(join(service.store.storage, 'counterfoil.sqlite'));
    await betweenWrites(() => other.exec('begin immediate'));
    const begun = context.mock.method(service.service.database, 'transaction');
    let isDone = false;
    const creating = service.create().finally(() => {
      isDone = true;
    });
    await eventually(() => begun.mock.callCount() > 0);
    assert.equal((await service.request(`/v1/payments/${id}`)).status, 200);
    assert.equal(isDone, false);
    other.exec('rollback');
    other.close();
    assert.equal((await creating).status, 'pending');
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

  test('a batch that is full does not wait for sockets, of which a flood always has one that is readable.', async () => {
    await using service = await startHarness('sqlite');
    let turns = 0;
    const turn = () => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const begun = Array.from({ length: LARGEST_BATCH }, () => service.service.journal.commit(() => turns));
    assert.equal(Math.max(...(await Promise.all(begun))), 0);
    clearImmediate(next);
  });

  test('a work whose turn comes with less than three seconds left is refused: nobody waits for it any more.', async (context) => {
    await using service = await startHarness('sqlite');
    let now = performance.now();
    const held = context.mock.method(performance, 'now', () => now);
    const { journal } = service.service;
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = journal.commit(() => {
      begun.resolve();
      return over.promise;
    });
    await begun.promise;
    let done = false;
    const late = journal.commit(() => {
      done = true;
    });
    const refused = assert.rejects(
      late,
      (error) => error instanceof OperationalError && error.code === 'unavailable',
    );
    now += LONGER_THAN_A_TEST_MS - LEAST_LEFT_MS + 1;
    over.resolve();
    await refused;
    await slow;
    assert.equal(done, false);
    held.mock.restore();
    await service.create();
  });

  test('a stop does not wait for a backlog of payments whose time has passed.', async () => {
    await using service = await startHarness('sqlite');
    const { journal } = service.service;
    await createIn(journal, service, BACKLOG);
    const { commit } = journal;
    const begun = new Promise<void>((resolve) => {
      journal.commit = (...work) => {
        resolve();
        return commit.apply(journal, work) as never;
      };
    });
    service.clock.advance(8 * DAY_MS);
    await begun;
    await service.stop();
    assert.ok((await pendingIn(service)) > 0, 'it left nothing to the next start');
    await service.start();
    const list = await service.request('/v1/payments?status=pending');
    assert.deepEqual(list.json.data, []);
    await service.verify();
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
