// What a look through the journal writes on PostgreSQL, so that its answer stands; and that a look nobody is answered with writes nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Journal } from '../../src/journal/journal.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import { expireDuePayments } from '../../src/payments/expire.ts';
import type { Database } from '../../src/store/database.ts';
import { startJournal } from '../support/journal.ts';

let database: Database;
let journal: Journal;
let close: () => Promise<void>;
before(async () => {
  ({ database, journal, close } = await startJournal('postgres'));
});
after(() => close());

/** Whether the head's row was written meanwhile, with which a commit waits for the standby. */
async function writes(act: () => Promise<unknown>): Promise<boolean> {
  const version = async () =>
    (await database.query<{ version: string }>('select xmin::text as version from journal_head'))[0]!.version;
  const earlier = await version();
  await act();
  return (await version()) !== earlier;
}

const look = (transaction: Transaction) => transaction.query('select 1 as one');
const glance = (transaction: Transaction) => {
  transaction.glance();
  return look(transaction);
};

test('a look writes, and one that only glances does not.', async () => {
  assert.deepEqual(
    [await writes(() => journal.commit(look)), await writes(() => journal.commit(glance))],
    [true, false],
  );
});

test('a look is made sure of whoever glances beside it, before it or after.', async () => {
  for (const works of [
    [look, glance],
    [glance, look],
  ])
    assert.ok(await writes(() => Promise.all(works.map((work) => journal.commit(work)))));
});

test('the sweeper writes nothing where no payment is due.', async () => {
  assert.equal(await writes(() => expireDuePayments(journal)), false);
});
