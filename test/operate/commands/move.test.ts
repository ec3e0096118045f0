// counterfoil move: what it refuses, that it changes nothing of the source, and that what was cut begins anew and is no store before its end.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import { readCheckpoints } from '../../../src/journal/checkpoint.ts';
import { type Moved, moveStore } from '../../../src/journal/move.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { ROW_CHECKS } from '../../../src/operate/checks/row-checks.ts';
import { command as auditCommand } from '../../../src/operate/commands/audit.ts';
import { command as moveCommand } from '../../../src/operate/commands/move.ts';
import { withCommonOptions } from '../../../src/operate/commands/usage.ts';
import { readConfiguration } from '../../../src/operate/config.ts';
import { startService } from '../../../src/operate/main.ts';
import { asMover, CarryRefused, carriedTables, holdStill, sessionsOpen } from '../../../src/store/carry.ts';
import { countFailures, type Database } from '../../../src/store/database.ts';
import { CarryUnfinished, MIGRATING_LOCK, migrate, missingMigrations } from '../../../src/store/migrate.ts';
import { SQLITE_FILE } from '../../../src/store/open.ts';
import { COMMAND, DEVELOPMENT, run, start, temporaryFolder } from '../../support/command.ts';
import { contentsOf, tablesOf } from '../../support/contents.ts';
import { type Harness, startHarness, writeConfiguration } from '../../support/harness.ts';
import { ENGINES, type Engine, openPatiently, type Store, temporaryStore } from '../../support/stores.ts';

const OTHER_SIDE = { sqlite: 'postgres', postgres: 'sqlite' } as const;
const PASSWORD = 'canary-password-7391';
const onBroken = (error: Error) => {
  throw error;
};

/** Gives the command its arguments in this process. Throws what it ends with. */
async function command(...args: string[]): Promise<void> {
  const said: string[] = [];
  const command = moveCommand().exitOverride();
  command.configureOutput({ writeErr: (text) => said.push(text), outputError: (text) => said.push(text) });
  await command.parseAsync(args, { from: 'user' });
}

for (const engine of ENGINES) {
  test(`what is moved is every table of the schema, whatever migrations come (${engine})`, async () => {
    const store = await temporaryStore(engine);
    const database = await openPatiently(store);
    try {
      await migrate(database);
      const tables = carriedTables();
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
    /** The source of every test; each leaves it stopped, and whole. */
    let service: Harness;
    let fresh: Store | undefined;
    let config: string;
    let source: { storage: string; database_url: string | null };
    let target: { storage: string; database_url: string | null };

    before(async () => {
      service = await startHarness(from);
      await service.create({ description: 'Zoë 𝒵', metadata: { nothing: null } });
      await service.create();
      await service.stop();
    });
    after(() => service.store.drop());
    beforeEach(async () => {
      const { storage, database_url } = service.store;
      if (to === 'postgres') fresh = await temporaryStore('postgres');
      source = { storage, database_url };
      target = { storage, database_url: fresh?.database_url ?? null };
      config = writeConfiguration(service.store, 'development', settings(url()));
    });
    afterEach(async () => {
      await fresh?.drop();
      const { storage } = service.store;
      if (to === 'sqlite')
        for (const end of ['', '-wal', '-shm'])
          rmSync(join(storage, `counterfoil.sqlite${end}`), { force: true });
    });

    const url = () => source.database_url ?? target.database_url!;
    const settings = (url: string | null) =>
      `storage: ${service.store.storage}\n${url ? `database_url: ${url}\n` : ''}`;
    /** As its users run it, for what it prints. */
    const move = (...args: string[]) => run(['move', '--to', to, '--config', config, ...args]);
    const requireRefused = (said: RegExp) =>
      assert.rejects(command('--to', to, '--config', config), { message: said });
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
      if (engine === 'postgres') return query(url(), sql);
      const raw = new DatabaseSync(join(source.storage, 'counterfoil.sqlite'));
      raw.exec(sql);
      raw.close();
    }
    /** Moves in this process; told to, it ends as if killed as soon as `cutAt` is under way. `meanwhile` comes before each write. */
    async function moveHere({ cutAt = '', meanwhile = async () => {} } = {}): Promise<Moved> {
      const { storage, database_url } = source;
      const from = await openPatiently({ storage, database_url: database_url && asMover(database_url) });
      const into = await openPatiently(target);
      const transaction: Database['transaction'] = async (...work) => {
        await meanwhile();
        return into.transaction(...work);
      };
      try {
        return await moveStore({
          source: from,
          target: { ...countFailures(into, () => {}), transaction },
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
      const database = await openPatiently(target);
      try {
        return await use(database);
      } finally {
        await database.close();
      }
    }
    const requireSame = async () => assert.deepEqual(await contentsOf(target), await contentsOf(source));
    const refusal = (message: RegExp) => ({ name: CarryRefused.name, message });

    test('every row arrives, the source stays as it was, and --json tells it in one document', async () => {
      const before = await contentsOf(source);
      const digest = await sourceDigest();
      const { code, stdout, stderr } = await move('--json');
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(await sourceDigest(), digest);
      assert.deepEqual(await contentsOf(target), before);
      const { rows, verification, ...rest } = JSON.parse(stdout);
      assert.deepEqual(rest, { moved: true, from, to });
      assert.deepEqual(
        rows,
        Object.fromEntries(Object.entries(before).map(([name, all]) => [name, all.length])),
      );
      assert.equal(verification.payments, 2);
      assert.equal(verification.checkpoints, 1);
      await assert.rejects(moveHere(), refusal(/^the target holds/));
      assert.deepEqual(await contentsOf(target), before);
    });

    test('a source that is served is refused', async () => {
      await service.start();
      try {
        await assert.rejects(command('--to', to, '--config', config), /another server holds/);
        if (to === 'sqlite') assert.equal(existsSync(join(source.storage, 'counterfoil.sqlite')), false);
        else assert.deepEqual(await contentsOf(target), {});
      } finally {
        await service.stop();
      }
    });

    if (from === 'postgres')
      test('a source that a node with another storage is connected to is refused', async () => {
        const node = new pg.Client(`${url()}?application_name=pay`);
        await node.connect();
        try {
          const ended = await move();
          assert.deepEqual([ended.code, ended.stdout], [1, '']);
          assert.match(ended.stderr, /source is in use, from 127\.0\.0\.1 \(pay\):/);
          assert.equal(existsSync(join(source.storage, 'counterfoil.sqlite')), false);
        } finally {
          await node.end();
        }
      });

    if (from === 'postgres')
      test('whoever connects to the source meanwhile keeps the target from being a store', async () => {
        const node = new pg.Client(`${url()}?application_name=pay`);
        let connected: Promise<unknown> | undefined;
        const meanwhile = async () => {
          connected ??= node.connect();
          await connected;
        };
        try {
          await assert.rejects(moveHere({ meanwhile }), refusal(/is in use, from 127\.0\.0\.1 \(pay\):/));
        } finally {
          await node.end();
        }
        await assert.rejects(onTarget(migrate), CarryUnfinished);
        await moveHere();
        await requireSame();
      });

    if (to === 'postgres')
      test('one that is interrupted says that the same command begins anew, and ends as the signal has it', async () => {
        const holder = new pg.Client(url());
        await holder.connect();
        await holder.query(MIGRATING_LOCK.replace('_xact', ''));
        const moving = start(process.execPath, [COMMAND, 'move', '--to', to, '--config', config]);
        const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`; // others wait on theirs
        while ((await holder.query(waiting)).rowCount === 0) assert.equal(moving.child.exitCode, null);
        moving.child.kill('SIGINT');
        assert.deepEqual(await moving.ended, { code: null, signal: 'SIGINT' });
        assert.match(moving.stderr, /^counterfoil: interrupted: the same command/);
        await holder.end();
        await moveHere();
      });

    if (to === 'postgres')
      test('one that loses PostgreSQL says that the same command begins anew', async () => {
        const holder = new pg.Client(url());
        await holder.connect();
        await holder.query(MIGRATING_LOCK.replace('_xact', ''));
        const moving = start(process.execPath, [COMMAND, 'move', '--to', to, '--config', config]);
        const end = `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
        while ((await holder.query(end)).rowCount === 0) assert.equal(moving.child.exitCode, null);
        assert.deepEqual(await moving.ended, { code: 1, signal: null });
        assert.match(moving.stderr, /move is unfinished, .* lost/);
        await holder.end();
        await moveHere();
      });

    test('nobody writes to a source that is being moved', async () => {
      const database = await openPatiently(source);
      const write = 'update journal_head set entries = entries';
      await holdStill(database, async (view) => {
        assert.equal((await view.query('select id from payments')).length, 2);
        if (from === 'postgres') {
          const [idle] = await view.query(
            "select current_setting('idle_in_transaction_session_timeout') as ms",
          );
          assert.deepEqual(idle, { ms: '0' }, 'it may be silent for as long as the target is verified');
          await assert.rejects(query(url(), "set lock_timeout = '50ms'", write), /lock timeout/);
        } else {
          const raw = new DatabaseSync(join(source.storage, 'counterfoil.sqlite'), { timeout: 0 });
          assert.throws(() => raw.exec(write), /database is locked/);
          raw.close();
        }
      });
      await database.close();
    });

    test('a source that does not verify is refused, its entry named, before anything is copied', async () => {
      const set = (minor: number) =>
        `update payments set amount_minor = ${minor} where description = 'Zoë 𝒵'`;
      await edit('source', set(1));
      try {
        await requireRefused(/^the source does not verify, so nothing was copied: broken at entry 1: /);
        if (to === 'sqlite')
          assert.deepEqual(
            readdirSync(source.storage).filter((name) => name.startsWith(SQLITE_FILE)),
            [],
          );
        assert.deepEqual(await contentsOf(target), {});
      } finally {
        await edit('source', set(4990));
      }
    });

    test('a target with a store in it is refused, and left alone', async () => {
      await onTarget(migrate);
      const before = await contentsOf(target);
      await assert.rejects(moveHere(), refusal(/^the target holds/));
      assert.deepEqual(await contentsOf(target), before);
    });

    if (to === 'postgres')
      test('a target with tables of something else is refused and they are named, but not those of extensions', async () => {
        const [orders, ofExtension] = [
          'create view orders as select 1 as id',
          'create table of_extension ()',
        ];
        await query(url(), orders!, ofExtension!, 'alter extension plpgsql add table of_extension');
        await requireRefused(
          /^the database holds tables of something else \(orders\): make an empty one, and/,
        );
        await query(url(), 'create table users ()', 'create table visits ()', 'create table x ()');
        const named = /something else \(orders, users, visits …\): /;
        await assert.rejects(moveHere(), refusal(named));
        await query(url(), 'drop view orders', 'drop table users, visits, x');
        await moveHere();
      });

    test('an unfinished target is taken for a store by nobody, and the same move begins anew', async () => {
      await cut('verifying the target');
      const onIt = writeConfiguration(service.store, 'development', settings(target.database_url));
      if (to === 'postgres') {
        const { code, stdout, stderr } = await run(['serve', '--config', onIt]);
        assert.deepEqual([code, stdout], [78, '']);
        assert.match(stderr, /^counterfoil: a move .* is unfinished: .*\n$/);
      }
      const doctor = await run(['doctor', '--json', '--config', onIt]);
      const { findings } = JSON.parse(doctor.stdout) as {
        findings: { outcome: string; fix: string | null }[];
      };
      const [failed, ...more] = findings.filter(({ outcome }) => outcome === 'failed');
      assert.deepEqual(more, []);
      assert.match(failed!.fix!, /same counterfoil move/);
      const log = createLogger('error', { write: () => {} });
      const parts = { log, clock: service.clock, onBroken };
      await assert.rejects(startService(readConfiguration(onIt, { PORT: '0' }), parts), CarryUnfinished);
      const verify = withCommonOptions(auditCommand()).parseAsync(['verify', '--config', onIt], {
        from: 'user',
      });
      await assert.rejects(verify, CarryUnfinished);
      for (const look of [migrate, missingMigrations] as ((database: Database) => Promise<unknown>)[])
        await assert.rejects(onTarget(look), CarryUnfinished);
      // What an older version has left had a table less.
      await edit('target', 'drop table api_key_uses');
      await moveHere();
      await requireSame();
    });

    test('a row that arrives changed makes no store of the target', async () => {
      let isDone = false;
      const meanwhile = async () => {
        if (
          isDone ||
          (await onTarget((database) => database.query('select id from payments').catch(() => []))).length ===
            0
        )
          return;
        isDone = true;
        await edit('target', 'update api_key_uses set used_at = used_at + 60000');
        await edit('target', "update payments set description = 'another' where description is not null");
      };
      await assert.rejects(moveHere({ meanwhile }), refusal(/table \w+ did not arrive/));
      await assert.rejects(onTarget(migrate), CarryUnfinished);
      await moveHere();
      await requireSame();
    });
  });
}

/** Runs statements one after the other on a connection of their own. */
async function query(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A PostgreSQL, and an account on it that owns nothing. */
async function withStranger(use: (store: Store, stranger: string) => Promise<void>): Promise<void> {
  const store = await temporaryStore('postgres');
  const role = `stranger_${process.pid}`;
  await query(store.database_url!, `create role ${role} login password '${PASSWORD}'`);
  const url = new URL(store.database_url!);
  [url.username, url.password] = [role, PASSWORD];
  try {
    await use(store, url.href);
  } finally {
    await query(store.database_url!, `drop owned by ${role}; drop role ${role}`);
    await store.drop();
  }
}

/** What is seen on a store as long as somebody is connected to it. */
async function seen(url: string, byWhom: string): Promise<string[]> {
  const somebody = new pg.Client(byWhom);
  await somebody.connect();
  const database = await openPatiently({ storage: '', database_url: asMover(url) });
  try {
    return await sessionsOpen(database);
  } finally {
    await database.close();
    await somebody.end();
  }
}

test('whoever could write to a source on PostgreSQL is seen, whatever they call themselves', async () => {
  await withStranger(async ({ database_url: url, storage }, stranger) => {
    const database = await openPatiently({ storage, database_url: url });
    await migrate(database);
    await database.close();
    assert.deepEqual(await seen(url!, `${url}?application_name=pay`), ['127.0.0.1 (pay)']);
    assert.deepEqual(await seen(`${url}?application_name=pay`, url!), ['127.0.0.1 (postgres)']);
    assert.deepEqual(await seen(url!, stranger), [], 'who may write nothing is let be');
    assert.deepEqual(await seen(stranger, url!), ['an address that it does not tell (postgres)']);
  });
});

test('a target where the account may make no tables is refused', async () => {
  const source = await temporaryStore('sqlite');
  await makeStore(source.storage);
  await withStranger(async ({ database_url: url }, stranger) => {
    await query(url!, 'revoke create on schema public from public');
    const config = writeConfiguration(
      source,
      'development',
      `storage: ${source.storage}\ndatabase_url: ${stranger}\n`,
    );
    await assert.rejects(command('--to', 'postgres', '--config', config), {
      name: 'Failure',
      message: /account .* no tables .*schema public/,
    });
  });
  await source.drop();
});

async function makeStore(storage: string): Promise<void> {
  const store = await openPatiently({ storage, database_url: null });
  await migrate(store);
  await store.close();
}

test('a password is repeated nowhere, however wrong its address is', async () => {
  const folder = temporaryFolder();
  await makeStore(join(folder.path, 'storage'));
  for (const [to, said, code] of [
    [`postgres://pay:${PASSWORD}@127.0.0.1:1/pay`, /the database: /, 1],
    [`postgres://pay:${PASSWORD}@127.0.0.1:port/pay`, /must have port numbers/, 2],
  ] as const) {
    const ended = await run(['move', '--to', to, '--config', folder.config]);
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, said);
    assert.ok(!(ended.stderr + ended.stdout).includes(PASSWORD), ended.stderr);
  }
  const mistyped = command('--to', `postgrse://pay:${PASSWORD}@127.0.0.1/pay`, '--config', folder.config);
  const { message } = await mistyped.then(
    () => assert.fail('is taken'),
    (error: Error) => error,
  );
  assert.match(message, /--to must be postgres, sqlite,/);
  assert.ok(!message.includes(PASSWORD), message);
  folder.remove();
});

test('without an address, or with two, it says what to name', async () => {
  const folder = temporaryFolder();
  const refused = (to: string, message: RegExp) =>
    assert.rejects(command('--to', to, '--config', folder.config), { name: 'Failure', message });
  await refused('postgres', /there is no database_url: name the empty database by it/);
  await refused('sqlite', /the store is on SQLite already/);
  writeFileSync(folder.config, `${DEVELOPMENT}database_url: postgres://127.0.0.1:1/one\n`, { mode: 0o600 });
  await refused('postgres://127.0.0.1:1/two', /database_url is set, to another address than --to/);
  await refused('postgres', /there is no counterfoil\.sqlite in .* to move/);
  folder.remove();
});
