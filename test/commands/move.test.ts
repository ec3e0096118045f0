// counterfoil move: what it refuses, that it changes nothing of the source, and that what was cut goes on and is no store before its end.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import type { Database } from '../../src/database/database.ts';
import { migrate, missingMigrations } from '../../src/database/migrate.ts';
import { holdStill, MoveRefused, movedTables } from '../../src/database/move.ts';
import { openDatabase } from '../../src/database/open.ts';
import { MoveUnfinished } from '../../src/database/unfinished-move.ts';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { type Moved, moveStore } from '../../src/journal/move.ts';
import { ROW_CHECKS } from '../../src/payments/row-checks.ts';
import { run, temporaryFolder } from '../support/command.ts';
import { contentsOf, tablesOf } from '../support/contents.ts';
import { type Harness, startHarness, writeConfiguration } from '../support/harness.ts';
import { ENGINES, type Engine, type Store, temporaryStore } from '../support/stores.ts';

const OTHER_SIDE = { sqlite: 'postgres', postgres: 'sqlite' } as const;
const PASSWORD = 'canary-password-7391';
const onBroken = (error: Error) => {
  throw error;
};

for (const engine of ENGINES) {
  test(`what is moved is every table of the schema, whatever migrations come (${engine})`, async () => {
    const store = await temporaryStore(engine);
    const database = await openDatabase(store, onBroken);
    try {
      await migrate(database);
      const tables = movedTables();
      assert.deepEqual(tables.map(({ name }) => name).sort(), await tablesOf(database));
      assert.equal(
        tables.at(-1)!.name,
        'schema_migrations',
        'what says that the schema is complete comes last',
      );
      for (const { name, columns, key } of tables) {
        const [row] = await database.query(
          `select * from (values (1)) as one left join ${name} on 1 = 1 limit 1`,
        );
        assert.deepEqual(columns, Object.keys(row!).slice(1), name);
        assert.ok(key.length > 0, `${name} has a primary key`);
      }
    } finally {
      await database.close();
      await store.drop();
    }
  });
}

for (const from of ENGINES) {
  const to = OTHER_SIDE[from];
  describe(`from ${from} to ${to}`, () => {
    let service: Harness;
    let other: Store;
    let source: { storage: string; database_url: string | null };
    let target: { storage: string; database_url: string | null };
    let env: Record<string, string>;

    beforeEach(async () => {
      service = await startHarness(from);
      other = await temporaryStore('postgres');
      const { storage } = service.store;
      const url = service.store.database_url ?? other.database_url!;
      source = { storage, database_url: service.store.database_url };
      target = { storage, database_url: from === 'sqlite' ? url : null };
      env = {
        COUNTERFOIL_CONFIG: writeConfiguration(service.store),
        COUNTERFOIL_STORAGE: storage,
        DATABASE_URL: url,
      };
      await service.create({ description: 'Zoë 𝒵', metadata: { nothing: null } });
      await service.create();
    });
    afterEach(async () => {
      await service.stop();
      await service.store.drop();
      await other.drop();
    });

    const move = (...args: string[]) => run(['move', '--to', to, ...args], { env });
    /** Every byte of a SQLite file, every row of a PostgreSQL. */
    const sourceDigest = async () =>
      createHash('sha256')
        .update(
          from === 'sqlite'
            ? readFileSync(join(source.storage, 'counterfoil.sqlite'))
            : JSON.stringify(await contentsOf(source)),
        )
        .digest('hex');
    async function edit(side: 'source' | 'target', sql: string): Promise<void> {
      const engine: Engine = side === 'source' ? from : to;
      if (engine === 'sqlite') {
        const raw = new DatabaseSync(join(source.storage, 'counterfoil.sqlite'));
        raw.exec(sql);
        raw.close();
        return;
      }
      const client = new pg.Client(env.DATABASE_URL);
      await client.connect();
      await client.query(sql);
      await client.end();
    }
    /** Moves in this process; told to, it ends as if killed as soon as `cutAt` is under way. */
    async function moveHere({ restart = false, cutAt = '' } = {}): Promise<Moved> {
      const from = await openDatabase(source, onBroken);
      const into = await openDatabase(target, onBroken);
      try {
        return await moveStore({
          ...{ source: from, target: into, restart },
          reading: readCheckpoints(source.storage),
          rowChecks: ROW_CHECKS,
          onProgress(what) {
            if (what === cutAt) throw new Error('cut');
          },
        });
      } finally {
        await from.close();
        await into.close();
      }
    }
    const cut = (cutAt: string) => assert.rejects(moveHere({ cutAt }), { message: 'cut' });
    async function onTarget<T>(use: (database: Database) => Promise<T>): Promise<T> {
      const database = await openDatabase(target, onBroken);
      try {
        return await use(database);
      } finally {
        await database.close();
      }
    }
    const requireSame = async () => assert.deepEqual(await contentsOf(target), await contentsOf(source));
    const refusal = (message: RegExp) => ({ name: MoveRefused.name, message });
    const requireRefused = (ended: Awaited<ReturnType<typeof run>>, said: RegExp, code = 1) => {
      assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr);
      assert.match(ended.stderr, said);
      assert.equal(ended.stderr.trim().split('\n').length, 1, 'one line');
    };

    test('every row arrives, the source stays as it was, and --json tells it in one document', async () => {
      await service.stop();
      const before = await contentsOf(source);
      const digest = await sourceDigest();
      const { code, stdout, stderr } = await move('--json');
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(await sourceDigest(), digest);
      assert.deepEqual(await contentsOf(target), before);
      const { rows, verification, ...rest } = JSON.parse(stdout);
      assert.deepEqual(rest, { moved: true, from, to, resumed: false });
      assert.deepEqual(
        rows,
        Object.fromEntries(Object.entries(before).map(([name, all]) => [name, all.length])),
      );
      assert.equal(verification.payments, 2);
      assert.equal(verification.checkpoints, 1);
      // Whoever was cut off before it could be told asks again.
      const again = await move('--json');
      assert.deepEqual([again.code, JSON.parse(again.stdout)], [0, { ...JSON.parse(stdout), resumed: true }]);
      assert.deepEqual(await contentsOf(target), before);
      // Served since: a store of its own.
      await edit('target', 'update api_key_uses set used_at = used_at + 60000');
      for (const restart of [false, true])
        await assert.rejects(moveHere({ restart }), refusal(/^the target holds a store already/));
    });

    test('a source that is served is refused', async () => {
      const said =
        from === 'sqlite'
          ? /another server holds the store/
          : /the source is in use, from 127\.0\.0\.1: stop every node and command on it first$/m;
      requireRefused(await move(), said);
      if (to === 'sqlite') assert.equal(existsSync(join(source.storage, 'counterfoil.sqlite')), false);
      else assert.deepEqual(await contentsOf(target), {});
    });

    test('nobody writes to a source that is being moved', async () => {
      await service.stop();
      const database = await openDatabase(source, onBroken);
      const write = 'update journal_head set entries = entries';
      await holdStill(database, async (view) => {
        assert.equal((await view.query('select id from payments')).length, 2);
        const client = from === 'sqlite' ? undefined : new pg.Client(env.DATABASE_URL);
        if (client) {
          const [idle] = await view.query(
            "select current_setting('idle_in_transaction_session_timeout') as ms",
          );
          assert.deepEqual(idle, { ms: '0' }, 'it may be silent for as long as the target is verified');
          await client.connect();
          await client.query("set lock_timeout = '50ms'");
          await assert.rejects(client.query(write), /lock timeout/);
          await client.end();
        } else {
          const raw = new DatabaseSync(join(source.storage, 'counterfoil.sqlite'), { timeout: 0 });
          assert.throws(() => raw.exec(write), /database is locked/);
          raw.close();
        }
      });
      await database.close();
    });

    test('a source that does not verify is refused, its entry named, before anything is copied', async () => {
      await service.stop();
      await edit('source', "update payments set amount_minor = 1 where description = 'Zoë 𝒵'");
      requireRefused(await move(), /the source does not verify, so nothing was copied: broken at entry 1: /);
      assert.deepEqual(await contentsOf(target), {});
    });

    test('a target with a store in it is refused, and left alone', async () => {
      await service.stop();
      await onTarget(migrate);
      const before = await contentsOf(target);
      for (const restart of [false, true])
        await assert.rejects(moveHere({ restart }), refusal(/^the target holds a store already/));
      assert.deepEqual(await contentsOf(target), before);
    });

    test('an unfinished target is taken for a store by nobody, and the same move finishes it', async () => {
      await service.stop();
      await cut('verifying the target');
      const onIt = { ...env, DATABASE_URL: target.database_url ?? '' };
      for (const command of [['serve'], ['audit', 'verify']])
        requireRefused(await run(command, { env: onIt }), /a move into this store is unfinished: run /, 78);
      for (const look of [migrate, missingMigrations] as ((database: Database) => Promise<unknown>)[])
        await assert.rejects(onTarget(look), MoveUnfinished);
      const { code, stdout } = await move('--json');
      assert.deepEqual([code, JSON.parse(stdout).resumed], [0, true]);
      await requireSame();
    });

    test('a source that went on meanwhile is refused until --restart', async () => {
      await service.stop();
      await cut('moving');
      const unfinished = await contentsOf(target);
      // What the source holds next is what its own service writes.
      const aside = join(source.storage, 'counterfoil.sqlite');
      if (to === 'sqlite') renameSync(aside, `${aside}.aside`);
      await service.start();
      await service.create();
      await service.stop();
      if (to === 'sqlite') renameSync(`${aside}.aside`, aside);
      await assert.rejects(
        moveHere(),
        refusal(/changed since .* entry 2 then and ends at entry 3 now; .*--restart/),
      );
      assert.deepEqual(await contentsOf(target), unfinished);
      assert.equal((await moveHere({ restart: true })).resumed, false);
      await requireSame();
    });

    test('a row that differs, where the history tells nothing of it, makes no store of the target', async () => {
      await service.stop();
      await cut('comparing');
      await edit('source', 'update api_key_uses set used_at = used_at + 60000');
      const said = /the table api_key_uses is not the same on both sides, from row 1 on.*--restart$/;
      await assert.rejects(moveHere(), refusal(said));
      await assert.rejects(onTarget(migrate), MoveUnfinished);
      requireRefused(await move(), new RegExp(said.source, 'm'));
      await moveHere({ restart: true });
      await requireSame();
    });

    test('a row too few makes no store of the target', async () => {
      await service.stop();
      await cut('comparing');
      // The lowest: a move goes on behind the highest.
      await edit('target', 'delete from payments where id = (select min(id) from payments)');
      await assert.rejects(
        moveHere(),
        refusal(/the table payments is not the same on both sides, from row 1 on/),
      );
    });

    test('a target that does not verify is no store', async () => {
      await service.stop();
      await cut('verifying the target');
      await edit(
        'target',
        to === 'sqlite' ? 'drop trigger seals_no_delete' : 'drop trigger seals_append_only on seals',
      );
      await assert.rejects(
        moveHere(),
        refusal(
          /^the target does not verify, so it is no store: broken: trigger seals_\w+ is missing.*--restart$/,
        ),
      );
      await assert.rejects(onTarget(migrate), MoveUnfinished);
    });
  });
}

test('a target where the account may make no tables is refused', async () => {
  const service = await startHarness('sqlite');
  const { database_url, drop } = await temporaryStore('postgres');
  const role = `stranger_${process.pid}`;
  const client = new pg.Client(database_url!);
  await client.connect();
  await client.query(
    `create role ${role} login password '${PASSWORD}'; revoke create on schema public from public`,
  );
  await service.stop();
  const url = new URL(database_url!);
  [url.username, url.password] = [role, PASSWORD];
  const env = {
    COUNTERFOIL_CONFIG: writeConfiguration(service.store),
    COUNTERFOIL_STORAGE: service.store.storage,
    DATABASE_URL: url.href,
  };
  const { code, stderr } = await run(['move', '--to', 'postgres'], { env });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /the account of the target may make no tables in the schema public: let it own the database/,
  );
  await client.query(`drop role ${role}`);
  await client.end();
  await service.store.drop();
  await drop();
});

test('a password is repeated nowhere, however wrong its address is', async () => {
  const folder = temporaryFolder();
  const { storage, drop } = await temporaryStore('sqlite');
  const store = await openDatabase({ storage, database_url: null }, onBroken);
  await migrate(store);
  await store.close();
  const env = { COUNTERFOIL_CONFIG: folder.config, COUNTERFOIL_STORAGE: storage };
  for (const [to, said, code] of [
    [`postgrse://pay:${PASSWORD}@127.0.0.1/pay`, /--to must be postgres, sqlite, or an address/, 2],
    [`postgres://pay:${PASSWORD}@127.0.0.1:1/pay`, /the database: /, 1],
    [`postgres://pay:${PASSWORD}@127.0.0.1:port/pay`, /must have port numbers/, 2],
  ] as const) {
    const ended = await run(['move', '--to', to], { env });
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, said);
    assert.ok(!(ended.stderr + ended.stdout).includes(PASSWORD), ended.stderr);
  }
  folder.remove();
  await drop();
});

test('without an address, or with two, it says what to name', async () => {
  const folder = temporaryFolder();
  const env = { COUNTERFOIL_CONFIG: folder.config, COUNTERFOIL_STORAGE: folder.path };
  const set = { ...env, DATABASE_URL: 'postgres://127.0.0.1:1/one' };
  const said = async (to: string, env: Record<string, string>) =>
    (await run(['move', '--to', to], { env })).stderr;
  assert.match(await said('postgres', env), /there is no database_url: name the empty database by it/);
  assert.match(await said('sqlite', env), /the store is on SQLite already/);
  assert.match(
    await said('postgres://127.0.0.1:1/two', set),
    /database_url is set, to another address than --to/,
  );
  assert.match(await said('postgres', set), /there is no counterfoil\.sqlite in .* to move/);
  folder.remove();
});
