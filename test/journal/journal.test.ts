// What the journal promises every work and its neighbours, on both engines.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Journal } from '../../src/journal/journal.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import { verifyHistory } from '../../src/journal/verify.ts';
import { OperationalError } from '../../src/lib/errors.ts';
import { systemClock } from '../../src/lib/time.ts';
import { KEPT_ANSWERS } from '../../src/payments/queries.ts';
import { type Database, DatabaseError } from '../../src/store/database.ts';
import { startJournal, unhurried } from '../support/journal.ts';
import { ENGINES } from '../support/stores.ts';
import { LONGER_THAN_A_TEST_MS } from '../support/waiting.ts';

const BATCH = 100;
/** As many as may wait, in `journal.ts`. */
const LONGEST_QUEUE = 16_384;

/** A row that wants nothing but its key: a stored response that answers nothing. */
function keep(transaction: Transaction, scope: string): void {
  const row = { scope, request_digest: '', status: 200, body: '', created_at: transaction.now };
  transaction.insert(KEPT_ANSWERS, row);
}

function record(transaction: Transaction, subject: string): void {
  transaction.record({ actor: 'test', action: 'tested', subject, request_id: null, facts: {} });
}

const keepAndRecord = (scope: string) => (transaction: Transaction) => {
  keep(transaction, scope);
  record(transaction, scope);
  return scope;
};

async function touch(transaction: Transaction, scope: string): Promise<void> {
  await transaction.change(
    'update idempotency_keys set body = ? where scope = ? returning scope',
    'touched',
    scope,
  );
}

const isUnavailable = (error: unknown) => error instanceof OperationalError && error.code === 'unavailable';

for (const engine of ENGINES) {
  describe(`the journal on ${engine}`, () => {
    let database: Database;
    let journal: Journal;
    let close: () => Promise<void>;
    before(async () => {
      ({ database, journal, close } = await startJournal(engine));
    });
    after(() => close());

    const count = async (table: string) =>
      (await database.query<{ n: number }>(`select count(*) as n from ${table}`))[0]!.n;
    const kept = async (scope: string) =>
      (await database.query<{ body: string }>('select body from idempotency_keys where scope = ?', scope))[0];
    const scopes = (prefix: string) => Array.from({ length: BATCH }, (_, i) => `${prefix}-${i}`);

    test('what is answered is in the store, also beside rehearsals, of which nothing is', async () => {
      const answered: string[] = [];
      const works = scopes('beside').map(async (scope, i) => {
        await delay(i % 10);
        for (let again = 0; again < 10; again++) {
          if (i % 10 === 0)
            await journal.rehearse(keepAndRecord(`rehearsed-${i}-${again}`), LONGER_THAN_A_TEST_MS);
          answered.push(await journal.commit(keepAndRecord(`${scope}-${again}`)));
        }
      });
      await Promise.all(works);
      database.refresh();
      for (const scope of answered) assert.ok(await kept(scope), `${scope} was answered and is not there`);
      assert.equal(await kept('rehearsed-0-0'), undefined);
    });

    test('works that arrive together share one commit and one seal', async () => {
      const [commits, seals] = [journal.counters.commits, await count('seals')];
      const answers = await Promise.all(
        scopes('together').map((scope) => journal.commit(keepAndRecord(scope))),
      );
      assert.deepEqual(answers, scopes('together'));
      assert.equal(journal.counters.commits - commits, 1);
      assert.equal((await count('seals')) - seals, 1);
    });

    test('a work that throws before it wrote costs its neighbours nothing', async () => {
      const commits = journal.counters.commits;
      const outcomes = await Promise.allSettled([
        journal.commit(keepAndRecord('before-1')),
        journal.commit(() => {
          throw new RangeError('not this one');
        }),
        journal.commit(keepAndRecord('before-2')),
      ]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.equal((outcomes[1] as PromiseRejectedResult).reason.message, 'not this one');
      assert.equal(journal.counters.commits - commits, 1);
    });

    test('a work that throws before it wrote leaves none of the inserts and entries it had asked for', async () => {
      const entries = await count('audit_entries');
      const work = journal.commit((transaction) => {
        keepAndRecord('half')(transaction);
        throw new RangeError('changed my mind');
      });
      await assert.rejects(work, /changed my mind/);
      assert.equal(await kept('half'), undefined);
      assert.equal(await count('audit_entries'), entries);
    });

    test('a work that throws after it wrote is undone, and its neighbours stand', async () => {
      await journal.commit(keepAndRecord('undone'));
      const outcomes = await Promise.allSettled([
        journal.commit(keepAndRecord('stands-1')),
        journal.commit(async (transaction) => {
          await touch(transaction, 'undone');
          record(transaction, 'undone');
          throw new RangeError('too late');
        }),
        journal.commit(keepAndRecord('stands-2')),
      ]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.equal((outcomes[1] as PromiseRejectedResult).reason.message, 'too late');
      assert.equal((await kept('undone'))?.body, '');
      assert.ok((await kept('stands-1')) && (await kept('stands-2')));
    });

    test('a taken key rejects the one work that wanted it, out of many', async () => {
      await journal.commit(keepAndRecord('taken-50'));
      const outcomes = await Promise.allSettled(
        scopes('taken').map((scope) => journal.commit(keepAndRecord(scope))),
      );
      const rejected = outcomes.flatMap((outcome, i) =>
        outcome.status === 'rejected' ? [{ i, outcome }] : [],
      );
      assert.deepEqual(
        rejected.map(({ i }) => i),
        [50],
      );
      const { reason } = rejected[0]!.outcome;
      assert.ok(reason instanceof DatabaseError && reason.failure === 'conflict', String(reason));
    });

    test('of two works in one batch that want the same key, one gets it', async () => {
      const outcomes = await Promise.allSettled(
        [1, 2].map(() => journal.commit(keepAndRecord('wanted-twice'))),
      );
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    });

    test('a statement that is wrong rejects its own work alone', async () => {
      const outcomes = await Promise.allSettled([
        journal.commit(keepAndRecord('right')),
        journal.commit((transaction) => transaction.query('select nothing from nowhere')),
      ]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected'],
      );
      assert.ok(await kept('right'));
    });

    test('a work that inserts or changes rows and records nothing is refused', async () => {
      await assert.rejects(
        journal.commit((transaction) => keep(transaction, 'unrecorded')),
        /recorded no entry/,
      );
      assert.equal(await kept('unrecorded'), undefined);
      await assert.rejects(
        journal.commit((transaction) => touch(transaction, 'right')),
        /recorded no entry/,
      );
      assert.equal((await kept('right'))?.body, '');
    });

    test('a probe succeeds and leaves no entry', async () => {
      const entries = await count('audit_entries');
      await journal.probe();
      assert.equal(await count('audit_entries'), entries);
    });

    test('works run in the order of the rows they name, and in the order they came for the same row', async () => {
      const order: string[] = [];
      const works = ['b-1', 'c-2', 'a-3', 'b-4'].map((name) =>
        journal.commit(() => void order.push(name), name[0]),
      );
      await Promise.all(works);
      assert.deepEqual(order, ['a-3', 'b-1', 'b-4', 'c-2']);
    });

    test('beyond the longest queue the answer is unavailable at once, and those waiting are done', async () => {
      const works = Array.from({ length: LONGEST_QUEUE }, () => journal.commit(() => 1));
      await assert.rejects(
        journal.commit(() => 1),
        isUnavailable,
      );
      assert.equal((await Promise.all(works)).length, LONGEST_QUEUE);
    });

    test('after all of these failures entries are numbered without a gap, and the seals match', async () => {
      const numbers = await database.query<{ number: number }>(
        'select number from audit_entries order by number',
      );
      assert.deepEqual(
        numbers.map(({ number }) => number),
        numbers.map((_, i) => i + 1),
      );
      const { entries } = await verifyHistory(database, { checkpoints: [] }, []);
      assert.equal(entries, numbers.length);
    });

    test('closing finishes what waits and takes nothing more', async () => {
      const closing = unhurried(database);
      const works = scopes('closing').map((scope) => closing.commit(keepAndRecord(scope)));
      const closed = closing.close();
      await assert.rejects(
        closing.commit(() => 1),
        isUnavailable,
      );
      await closed;
      assert.equal((await Promise.all(works)).length, BATCH);
      assert.ok(await kept('closing-99'));
    });

    test('a batch that stands is not run again, whoever listens to it fails', async (context) => {
      const failures: unknown[] = [];
      const throwing = (error: Error) => () => {
        throw error;
      };
      process.setUncaughtExceptionCaptureCallback((error) => failures.push(error));
      context.after(() => process.setUncaughtExceptionCaptureCallback(null));
      const [bySeal, byCommit] = [new Error('of the seal'), new Error('of the commit')];
      for (const [options, fault] of [
        [{ onSeal: throwing(bySeal) }, bySeal],
        [{ onCommit: throwing(byCommit) }, byCommit],
      ] as const) {
        const watched = unhurried(database, systemClock, options);
        let runs = 0;
        const answer = await watched.commit((transaction) => {
          runs += 1;
          record(transaction, `watched ${fault.message}`);
          return runs;
        });
        await watched.close();
        assert.deepEqual([answer, runs, watched.counters.commits], [1, 1, 1]);
        await new Promise((resolve) => setImmediate(resolve));
        assert.equal(failures.pop(), fault, 'a defect is not hidden');
      }
    });

    for (const table of ['audit_entries', 'seals']) {
      for (const statement of [
        `update ${table} set at = at + 1 where number = 1`,
        `delete from ${table} where number = 1`,
        ...(engine === 'postgres' ? [`truncate ${table}`] : []),
      ]) {
        test(`the database itself refuses: ${statement}`, async () => {
          const before = await count(table);
          await assert.rejects(
            database.transaction((transaction) => transaction.query(statement)),
            /append-only/,
          );
          assert.equal(await count(table), before);
        });
      }
    }
  });
}
