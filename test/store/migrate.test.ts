// A schema comes up to date step by step, each step once, however many nodes start together.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Database } from '../../src/store/database.ts';
import { knownMigrations, migrate, missingMigrations, SchemaTooNew } from '../../src/store/migrate.ts';
import { openDatabase } from '../../src/store/open.ts';
import { startHarness } from '../support/harness.ts';
import { ENGINES, type Engine, temporaryStore } from '../support/stores.ts';
import { becomes } from '../support/waiting.ts';

const NODES = 4;
const NAMES = knownMigrations().map(({ name }) => name);

async function withDatabases(engine: Engine, count: number, use: (databases: Database[]) => Promise<void>) {
  const store = await temporaryStore(engine);
  const databases: Database[] = [];
  try {
    while (databases.length < count) databases.push(await openDatabase(store, assert.ifError));
    await use(databases);
  } finally {
    await Promise.all(databases.map((database) => database.close()));
    await store.drop();
  }
}

/** What a newer program would have left behind. */
async function makeNewer(database: Database): Promise<void> {
  const row = { version: NAMES.length + 1, name: 'from-the-future', digest: '' };
  await database.transaction((transaction) => transaction.insert('schema_migrations', [row]));
}

test('migrations are numbered from 1 without a gap', () => {
  assert.deepEqual(
    knownMigrations().map(({ version }) => version),
    NAMES.map((_, i) => i + 1),
  );
});

test('a migration that takes longer than any statement may is waited for, and so would be its own', async () => {
  await withDatabases('postgres', 2, async ([first, second]) => {
    let waiting: Promise<string[]> | undefined;
    await first!.transaction(async (transaction) => {
      await transaction.query('select pg_advisory_xact_lock(4207849484)');
      waiting = migrate(second!);
      waiting.catch(() => {});
      for (let seconds = 0; seconds < 9; seconds++) await transaction.query('select pg_sleep(1)');
    });
    assert.deepEqual(await waiting, NAMES);
    const [setting] = await second!.query<{ value: string }>(
      "select current_setting('statement_timeout') as value",
    );
    assert.equal(setting?.value, '8s');
  });
});

test('a step whose connection is cut is not done on another, outside of its transaction', async () => {
  await withDatabases('postgres', 2, async ([first, second]) => {
    const step = first!.transaction(async (transaction) => {
      const [one] = await transaction.query<{ pid: number }>('select pg_backend_pid() as pid');
      await second!.query('select pg_terminate_backend(?::int)', one!.pid);
      const left = () => second!.query('select pid from pg_stat_activity where pid = ?', one!.pid);
      await becomes([], left);
      await first!.script('create table half_done (id bigint)');
    });
    await assert.rejects(step, { failure: 'unavailable' });
    assert.deepEqual(await second!.query(`select to_regclass('half_done') as found`), [{ found: null }]);
  });
});

for (const engine of ENGINES) {
  describe(`migrating on ${engine}`, () => {
    test('an empty store takes every migration once and in order, an up-to-date one none', async () => {
      await withDatabases(engine, 1, async ([database]) => {
        assert.equal(await missingMigrations(database!), NAMES.length);
        assert.deepEqual(await migrate(database!), NAMES);
        assert.equal(await missingMigrations(database!), 0);
        assert.deepEqual(await migrate(database!), []);
        const rows = await database!.query<{ name: string }>(
          'select name from schema_migrations order by version',
        );
        assert.deepEqual(
          rows.map(({ name }) => name),
          NAMES,
        );
      });
    });

    test('a schema newer than the program is refused, and left as it is', async () => {
      await withDatabases(engine, 1, async ([database]) => {
        await migrate(database!);
        await makeNewer(database!);
        await assert.rejects(migrate(database!), SchemaTooNew);
        await assert.rejects(missingMigrations(database!), SchemaTooNew);
      });
    });

    test('a migration that fails leaves nothing of itself, and can be run again', async () => {
      await withDatabases(engine, 1, async ([database]) => {
        const inItsWay = 'create table seals (number bigint)';
        await database!.transaction(async () => database!.script(inItsWay));
        await assert.rejects(migrate(database!), /seals/);
        assert.equal(await missingMigrations(database!), NAMES.length);
        await database!.transaction(async () => database!.script('drop table seals'));
        assert.deepEqual(await migrate(database!), NAMES);
      });
    });
  });
}

test(`${NODES} nodes that start at once on PostgreSQL share the migrations among them`, async () => {
  await withDatabases('postgres', NODES, async (databases) => {
    const applied = await Promise.all(databases.map((database) => migrate(database)));
    assert.deepEqual(applied.flat().sort(), [...NAMES].sort());
  });
});

test('a service refuses to start on a schema newer than itself', async () => {
  const service = await startHarness('sqlite');
  await makeNewer(service.service.database);
  await service.stop();
  await assert.rejects(service.start(), SchemaTooNew);
  await service.store.drop();
});
