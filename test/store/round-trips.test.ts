// How often a commit waits for PostgreSQL, counted at the socket, and what becomes of statements that nobody waited for.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Journal } from '../../src/journal/journal.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import { systemClock } from '../../src/lib/time.ts';
import { keepAnswer } from '../../src/payments/idempotency.ts';
import type { Database } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { type CountingRelay, startCountingRelay } from '../support/counting-relay.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';

/** BEGIN; rows, lock and newest seal; entries, seal and COMMIT. */
const WAITS_OF_A_COMMIT = 3;
const CREATES = 40;
const ROUNDS = 20;
/** So many bytes stand before the rows of a commit none of whose works has asked anything, as the sweep of old payments does. */
const ROWS_WITHIN = 64;

describe('statements that are sent together', () => {
  let relay: CountingRelay;
  let service: Harness;

  before(async () => {
    const store = await temporaryStore('postgres');
    const url = new URL(store.database_url!);
    relay = await startCountingRelay(Number(url.port));
    url.port = String(relay.port);
    service = await startHarness('postgres', { store: { ...store, database_url: url.href } });
  });
  after(async () => {
    await service.close();
    await relay.close();
  });

  test('a commit whose works ask nothing waits three times, whatever it holds', async () => {
    await service.create({}, { headers: { 'idempotency-key': 'prepares-the-statements' } });
    relay.transactions.length = 0;
    const ofWorksThatAskNothing = () =>
      relay.transactions.filter(
        ({ sent }) => /payment\.created.*commit/s.test(sent) && sent.indexOf('[{') < ROWS_WITHIN,
      );
    const isSeen = () => ofWorksThatAskNothing().some(({ sent }) => sent.includes('answer.kept'));
    // A work that asks, such as the sweep's, may join any commit: then those of the next round are looked at.
    for (let round = 0; round < ROUNDS && !isSeen(); round++)
      await Promise.all(
        Array.from({ length: CREATES }, (_, i) =>
          service.create({}, i % 2 ? { headers: { 'idempotency-key': `waits-${round}-${i}` } } : {}),
        ),
      );
    assert.ok(isSeen());
    const found = ofWorksThatAskNothing();
    for (const { waits } of found) assert.equal(waits, WAITS_OF_A_COMMIT);
  });

  describe('a store with a table of names', () => {
    let database: Database;
    const names = async () =>
      (await database.query<{ name: string }>('select name from names order by name')).map(
        ({ name }) => name,
      );

    before(async () => {
      database = await openPostgres(service.store.database_url!);
      await database.script('create table names (name text primary key)');
    });
    beforeEach(() => database.script('truncate names'));
    after(() => database.close());

    test('rows that are refused are the failure of the next query, of the commit otherwise, and leave nothing', async () => {
      await database.transaction((transaction) => transaction.insert('names', [{ name: 'taken' }]));
      for (const asksAfter of [true, false]) {
        const refused = database.transaction(async (transaction) => {
          await transaction.insert('names', [{ name: `before ${asksAfter}` }]);
          await transaction.insert('names', [{ name: 'taken' }]);
          await transaction.insert('names', [{ name: `behind ${asksAfter}` }]);
          if (!asksAfter) return;
          const both = [transaction.query('select 1'), transaction.query('select 2')];
          for (const one of await Promise.allSettled(both))
            assert.equal(one.status === 'rejected' && one.reason.failure, 'conflict');
          await Promise.all(both);
        });
        await assert.rejects(refused, { failure: 'conflict' });
        assert.deepEqual(await names(), ['taken']);
      }
      await database.transaction((transaction) => transaction.insert('names', [{ name: 'later' }]));
      assert.deepEqual(await names(), ['later', 'taken'], 'the connection is used on');
    });

    test('a connection that is lost behind COMMIT leaves the outcome unknown, though rows before it are not answered', async () => {
      relay.cutAt(/perhaps.*commit\0/s); // and not the sweep's
      const lost = database.transaction((transaction) => transaction.insert('names', [{ name: 'perhaps' }]));
      await assert.rejects(lost, { failure: 'unknown' });
      await eventually(async () => (await names()).includes('perhaps'));
    });

    test('a connection that is lost before COMMIT leaves nothing, and says so', async () => {
      relay.cutAt(/never/);
      const lost = database.transaction(async (transaction) => {
        await transaction.insert('names', [{ name: 'never' }]);
        await transaction.query('select 1');
      });
      await assert.rejects(lost, { failure: 'unavailable' });
      assert.deepEqual(await names(), []);
    });

    test('a rehearsal finds out that the rows are refused that a commit sends last', async () => {
      await database.script(`
        create function refuse() returns trigger language plpgsql as 'begin raise ''refused''; end';
        create trigger refused before insert on seals execute function refuse()`);
      const journal = new Journal(database, systemClock);
      const work = (transaction: Transaction) =>
        keepAnswer(transaction, 'rehearsed', 'digest', { status: 201, body: '' });
      await assert.rejects(journal.rehearse(work, 5000), /refused/);
      await database.script('drop trigger refused on seals; drop function refuse');
      await journal.rehearse(work, 5000);
    });
  });
});
