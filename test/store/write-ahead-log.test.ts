// SQLite's write-ahead log: what is shown is on the disk, and the log does not grow without end.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase, SQLITE_FILE } from '../../src/store/open.ts';
import { clockwork } from '../support/clockwork.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';

/** The worker that folds has started and failed by then. */
const FOLD_FAILS_WITHIN_MS = 1500;

const broken = (error: Error) => {
  throw error;
};

/** A store with one table, `numbers`. */
async function storeOfNumbers(context: { after(undo: () => Promise<void>): void }) {
  const store = await temporaryStore('sqlite');
  const database = await openDatabase(store, broken);
  context.after(async () => {
    await database.close();
    await store.drop();
  });
  await database.script('create table numbers (number bigint primary key, text text)');
  const numbers = async (source: Pick<typeof database, 'query'> = database) =>
    (await source.query<{ number: number }>('select number from numbers order by number')).map(
      (row) => row.number,
    );
  const add = (number: number, text = '', onWritten?: () => void) =>
    database.transaction(
      (transaction) => transaction.insert('numbers', [{ number, text }]),
      undefined,
      onWritten,
    );
  return { store, database, numbers, add };
}

test('a commit waits for the lock of another connection, and time in which the process stood still is not waited', async (context) => {
  const { store, numbers, add } = await storeOfNumbers(context);
  const pass = clockwork(context);
  const other = new DatabaseSync(join(store.storage, SQLITE_FILE));
  other.exec('begin immediate');
  const added = add(1);
  added.catch(() => {});
  for (let i = 0; i < 10; i++) {
    await delay(20);
    pass(60_000);
  }
  other.close();
  await added;
  assert.deepEqual(await numbers(), [1]);
});

test('a commit is shown when it is on the disk, and not before', async (context) => {
  const { database, numbers, add } = await storeOfNumbers(context);
  await add(1);
  const seen: Promise<unknown>[] = [];
  let isLater = false;
  const second = add(2, '', () => {
    assert.ok(database.flushing);
    // Comes before anything that waits for the disk, and behind what does not.
    process.nextTick(() => {
      isLater = true;
    });
    database.refresh();
    seen.push(numbers());
    seen.push(database.snapshot(async (view) => [isLater, await numbers(view)]));
  });
  await second;
  assert.deepEqual(await numbers(), [1, 2]);
  assert.deepEqual(await Promise.all(seen), [[1], [true, [1, 2]]]);
});

test('the next transaction runs while a commit is flushed, and commits behind it', async (context) => {
  const { database, numbers, add } = await storeOfNumbers(context);
  const order: string[] = [];
  let next: Promise<void> | undefined;
  await add(1, '', () => {
    next = database
      .transaction(async (transaction) => {
        order.push('the second runs');
        assert.ok(database.flushing, 'while the first is flushed');
        await transaction.insert('numbers', [{ number: 2, text: '' }]);
        assert.deepEqual(await numbers(), [], 'nothing is on the disk');
      })
      .then(() => void order.push('the second is on the disk'));
  });
  order.push('the first is on the disk');
  await next;
  assert.deepEqual(order, ['the second runs', 'the first is on the disk', 'the second is on the disk']);
  assert.deepEqual(await numbers(), [1, 2]);
});

test('the log begins anew while commits follow one another without a pause', async (context) => {
  const { store, database, add } = await storeOfNumbers(context);
  const log = join(store.storage, `${SQLITE_FILE}-wal`);
  const text = 'x'.repeat(400_000);
  let longest = 0;
  for (let number = 0; number < 400; number++) {
    await add(number, text);
    longest = Math.max(longest, statSync(log).size);
  }
  assert.ok(longest < 80 * 1024 ** 2, `${longest} bytes of 160 MB`);
  assert.equal((await database.query('select 1 from numbers')).length, 400);
});

test('an error that may tell of a commit is given when that is on the disk', async (context) => {
  const { database, numbers, add } = await storeOfNumbers(context);
  const order: unknown[] = [];
  let twin: Promise<unknown> | undefined;
  await add(1, '', () => {
    database.flushing!.then(() => order.push('on the disk'));
    twin = add(1).catch(async (error) => order.push(error.failure, await numbers()));
  });
  await twin;
  assert.deepEqual(order, ['on the disk', 'conflict', [1]]);
});

test('a log that cannot be folded grows, and is folded later', async (context) => {
  const { store, database, add } = await storeOfNumbers(context);
  const file = join(store.storage, SQLITE_FILE);
  const text = 'x'.repeat(400_000);
  // Who reads an old state needs the log as it is: nothing of it can be folded into the file.
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec('begin');
  reader.prepare('select count(*) from numbers').get();
  let count = 0;
  while (count < 42) await add(count++, text);
  // A fold is tried while this transaction is open.
  await database.transaction(async () => delay(FOLD_FAILS_WITHIN_MS));
  while (count < 100) await add(count++, text);
  assert.ok(statSync(file).size < 1024 ** 2, 'nothing was folded');
  reader.close();
  await eventually(async () => {
    await add(count++, text);
    return statSync(file).size > 16 * 1024 ** 2;
  });
  assert.equal((await database.query('select 1 from numbers')).length, count);
});
