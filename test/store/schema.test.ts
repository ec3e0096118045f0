// What the migrations make is what verifying expects, and what is not ours in a PostgreSQL database is none of its business.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { schemaFile } from '../../scripts/write-schema.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { readSchema, schemaFaults } from '../../src/store/schema.ts';
import { ENGINES, type Engine, openPatiently, temporaryStore } from '../support/stores.ts';

async function withMigrated(engine: Engine, use: (database: Database) => Promise<void>): Promise<void> {
  const store = await temporaryStore(engine);
  const database = await openPatiently(store);
  try {
    await migrate(database);
    await use(database);
  } finally {
    await database.close();
    await store.drop();
  }
}

const problems = async (database: Database) =>
  (await database.snapshot((view) => schemaFaults(view, database.engine))).map(({ problem }) => problem);

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    test('a schema just made has no fault, nor has one with statistics', async () => {
      await withMigrated(engine, async (database) => {
        assert.deepEqual(await problems(database), []);
        await database.script('analyze');
        assert.deepEqual(await problems(database), []);
      });
    });

    test('a table behind a view is told before all else', async () => {
      await withMigrated(engine, async (database) => {
        await database.script(
          'alter table sessions rename to hidden; create view sessions as select * from hidden',
        );
        assert.equal((await problems(database))[0], 'table sessions is now a view');
      });
    });
  });
}

test('on PostgreSQL it is the one in postgres-schema.txt', async () => {
  await withMigrated('postgres', async (database) => {
    const file = new URL('../../src/store/postgres-schema.txt', import.meta.url);
    assert.equal(readFileSync(file, 'utf8'), await schemaFile(database), 'run: node scripts/write-schema.ts');
  });
});

test('no table that the migrations leave on PostgreSQL is left out, whatever it was called at first', async () => {
  await withMigrated('postgres', async (database) => {
    const there = await database.query<{ name: string }>(
      "select tablename as name from pg_catalog.pg_tables where schemaname = 'public'",
    );
    const read = (await readSchema(database, 'postgres')).filter(({ kind }) => kind === 'table');
    assert.deepEqual(read.map(({ name }) => name).sort(), there.map(({ name }) => name).sort());
  });
});

test("others' tables and schemas are left alone on PostgreSQL, but not their triggers on ours", async () => {
  await withMigrated('postgres', async (database) => {
    await database.script(`create schema shop; create table shop.payments (id text); create table orders (id text primary key);
      create view latest as select * from payments; create table notes (payment text references payments (id));
      create function hear() returns trigger language plpgsql as $$ begin return null; end $$;
      create trigger heard after insert on orders execute function hear()`);
    assert.deepEqual(await problems(database), []);
    await database.script('create trigger heard after insert on payments execute function hear()');
    assert.deepEqual(await problems(database), ['trigger heard was added by another hand']);
  });
});

test('whoever may only read can look at the schema on PostgreSQL', async () => {
  await withMigrated('postgres', async (database) => {
    const faults = await database.snapshot(async (view) => {
      await view.query('set local role pg_monitor');
      return schemaFaults(view, 'postgres');
    });
    assert.deepEqual(faults, []);
  });
});
