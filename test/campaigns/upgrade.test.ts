// Upgrades: the schema comes up to date while the version before serves, and a kill in the middle of a migration leaves nothing of it.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { type Verification, verifyHistory } from '../../src/journal/verify.ts';
import { copyDurably, type FileDigest } from '../../src/lib/durable-files.ts';
import { ROW_CHECKS } from '../../src/operate/checks/row-checks.ts';
import { knownMigrations, migrate } from '../../src/store/migrate.ts';
import { openDatabase } from '../../src/store/open.ts';
import { schemaFaults } from '../../src/store/schema.ts';
import { backupPlace } from '../support/backups.ts';
import { start } from '../support/command.ts';
import { freePort } from '../support/free-ports.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { loadClient } from '../support/load-client.ts';
import type { ProgramCopy } from '../support/program-copy.ts';
import { verifySqlite } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ENGINES, type Engine, type Store, temporaryStore } from '../support/stores.ts';
import { CrashLoad } from './crash-load.ts';
import { type Kill, killMigration, mortalProgram } from './migration-kills.ts';
import { NEXT_MIGRATION, nextVersion } from './next-version.ts';
import { PAST_PAYMENTS, type Past, pastStores } from './past-stores.ts';
import { Watch } from './watched-client.ts';

const CLIENTS = 32;
const PAUSE_MS = 40;
/** So many more answers before the migration begins, and after it. */
const ANSWERS = 150;
/** No answer of the version before takes longer while the next one migrates: it waits for it, and other tests share the machine. */
const PAUSE_MAXIMUM_MS = 5000;

const GOES_ON_WITHIN_MS = 20_000;

const random = new SeededRandom();

interface Hold {
  /** Lets the migration go on. */
  (): Promise<void>;
  /** Answers when the migration waits. */
  waited(): Promise<void>;
}

async function upgradeUnderLoad(engine: Engine, next: ProgramCopy): Promise<string> {
  const store = await temporaryStore(engine);
  const config = writeConfiguration(store, 'development', 'log_level: error\n');
  const settings = { config, port: await freePort(), ...store };
  const command = (...args: string[]) =>
    start(process.execPath, [next.command, ...args, '--config', config], {
      env: { ...next.env, COUNTERFOIL_STORAGE: store.storage, DATABASE_URL: store.database_url ?? '' },
    });
  const [load, watch, stop] = [new CrashLoad(random), new Watch(), new AbortController()];
  const servers: ServerProcess[] = [];
  try {
    const before = await startServerProcess(settings);
    servers.push(before);
    const client = watch.over(loadClient(before.origin, KEY, CLIENTS), PAUSE_MS);
    const round = load.run(client, CLIENTS, stop.signal);
    const goesOn = async () => {
      const enough = (watch.statuses[201] ?? 0) + ANSWERS;
      for (const deadline = performance.now() + GOES_ON_WITHIN_MS; (watch.statuses[201] ?? 0) < enough; ) {
        assert.ok(performance.now() < deadline, `the server stands still: ${JSON.stringify(watch.statuses)}`);
        await delay(5);
      }
    };
    await goesOn();
    const letGo = await holdPayments(store);
    const migrating = command('migrate');
    if (letGo) {
      await letGo.waited();
      await goesOn();
      assert.equal(migrating.child.exitCode, null, 'it still waits for whoever reads');
      await letGo();
    }
    assert.deepEqual([(await migrating.ended).code, migrating.stderr], [0, '']);
    assert.equal(migrating.stdout, `Applied ${NEXT_MIGRATION}.\n`);
    await goesOn();
    stop.abort();
    const { acknowledged, unanswered } = await round.finished;
    client.close();
    assert.equal(await before.end('SIGTERM'), 0, before.output.join('\n'));

    const after = await startServerProcess({ ...settings, command: next.command, env: next.env });
    servers.push(after);
    const later = loadClient(after.origin, KEY, CLIENTS);
    const { losses } = await load.findLosses(later);
    later.close();
    const verifying = command('audit', 'verify');
    assert.equal((await verifying.ended).code, 0, verifying.stdout + verifying.stderr);
    assert.equal(await after.end('SIGTERM'), 0, after.output.join('\n'));
    assert.deepEqual({ unanswered, losses, faults: watch.faults }, { unanswered: 0, losses: [], faults: [] });
    assert.equal(watch.statuses[503], undefined);
    assert.ok(watch.slowestMs < PAUSE_MAXIMUM_MS, `an answer took ${watch.slowestMs} ms`);
    return `${engine}: ${acknowledged} acknowledged, no 5xx, the slowest answer in ${Math.round(watch.slowestMs)} ms`;
  } finally {
    stop.abort();
    for (const { child } of servers) child.kill('SIGKILL');
    await store.drop();
  }
}

/** A long look at payments on PostgreSQL, as a dump's or a verification's: a migration waits for its end, and nobody else may. */
async function holdPayments({ database_url }: Store): Promise<Hold | undefined> {
  if (database_url === null) return undefined;
  const client = new pg.Client(database_url);
  await client.connect();
  await client.query('begin isolation level repeatable read read only');
  await client.query('select count(*) from payments');
  const watcher = new pg.Client(database_url); // one that looks within a transaction sees the same each time
  await watcher.connect();
  const letGo = async () => {
    await client.end(); // which ends its transaction, too
    await watcher.end();
  };
  const waited = async () => {
    for (const deadline = performance.now() + GOES_ON_WITHIN_MS; ; ) {
      assert.ok(performance.now() < deadline, 'the migration never waited');
      const { rows } = await watcher.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%alter table payments%'",
      );
      if (rows.length > 0) return;
      await delay(5);
    }
  };
  return Object.assign(letGo, { waited });
}

describe('the next version migrates while this one serves, and takes over', () => {
  let next: ProgramCopy;
  before(async () => {
    next = await nextVersion();
  });
  after(() => next.remove());
  for (const engine of ENGINES) {
    test(`on ${engine}`, { timeout: 120_000 }, async (context) => {
      context.diagnostic(await upgradeUnderLoad(engine, next));
    });
  }
});

/** Kills of each migration on each engine; without a number, one of each on SQLite and one in all on PostgreSQL. */
const KILLS = Number(process.env.COUNTERFOIL_RUNS) || 0;
/** A migration of a small store takes some ten milliseconds: a kill that is to fall anywhere in it comes within that. */
const KILL_WITHIN_MS = 8;

describe('a store of an older version', () => {
  let past: Past;
  let program: ProgramCopy;
  before(async () => {
    console.log(
      `upgrade: seed ${random.seed} (COUNTERFOIL_SEED), ${KILLS || 'few'} kills (COUNTERFOIL_RUNS)`,
    );
    past = await pastStores();
    program = mortalProgram();
  });
  after(async () => {
    program.remove();
    await past.remove();
  });

  const migrations = knownMigrations().map(({ version }) => version);
  for (const engine of ENGINES) {
    test(`on ${engine} comes up to date at the next start, wherever in a migration a program was killed`, {
      timeout: Infinity,
    }, async (context) => {
      const few = engine === 'sqlite' ? migrations : [random.pick(migrations)];
      const killed = KILLS > 0 ? migrations.flatMap((one) => Array<number>(KILLS).fill(one)) : few;
      let inside = 0;
      for (const [index, migration] of killed.entries()) {
        const how = index % 2 === 0 ? 'now' : 'later';
        const kill: Kill = {
          migration,
          part: random.between(0, 999) / 1000,
          how,
          afterMs: random.between(0, KILL_WITHIN_MS),
        };
        const store = await past.store(engine, migration - 1);
        try {
          if (await killMigration(program, store, kill)) inside++;
          const { payments } = await upToDate(store);
          assert.equal(payments, migration > 2 ? PAST_PAYMENTS : 0);
        } catch (error) {
          throw new Error(`seed ${random.seed}, ${JSON.stringify(kill)}`, { cause: error });
        } finally {
          await store.drop();
        }
      }
      context.diagnostic(
        `${engine}: ${killed.length} kills, ${inside} of them inside a migration; all completed and verified`,
      );
      assert.ok(inside >= killed.length / 2, `${inside} of ${killed.length} kills fell inside`); // all of the first kind do
    });
  }

  test('a backup of an older version comes up to date when it is restored; this version makes none of it', async () => {
    const store = await past.store('sqlite', knownMigrations().length - 1);
    const place = backupPlace(store);
    try {
      const refused = await place.command(['backup', place.folder]);
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /schema is of version \d+, this program's is \d+: back it up with the program that serves it\. The copy was not kept/,
      );
      const storage = place.freshStorage();
      const { code, stderr } = await place.command(['restore', await olderBackup(store)], storage);
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(
        (await verifySqlite(join(storage, 'counterfoil.sqlite'), storage)).payments,
        PAST_PAYMENTS,
      );
    } finally {
      place.remove();
      await store.drop();
    }
  });
});

/** What the version of a store would have made of it: a backup whose list names the schema that it has. */
async function olderBackup({ storage }: Store): Promise<string> {
  const backup = join(storage, '2026-01-01T000000Z');
  mkdirSync(backup, { mode: 0o700 });
  const files: Record<string, FileDigest> = {};
  for (const name of readdirSync(storage).filter((one) => /^(counterfoil\.sqlite|checkpoint.*)$/.test(one)))
    files[name] = await copyDurably(join(storage, name), join(backup, name));
  const list = {
    ...{ made_at: '2026-01-01T00:00:00+00:00', version: '0.0.0', engine: 'sqlite', storage, files },
    ...{ schema: knownMigrations().length - 1, entries: PAST_PAYMENTS, seals: PAST_PAYMENTS },
    ...{
      newest_entry_at: null,
      first_seal: null,
      newest_seal: null,
      keys: { checkpoint: null, secrets: [] },
    },
  };
  writeFileSync(join(backup, 'backup.json'), JSON.stringify(list));
  return backup;
}

/** Completes the migrations, as a start does, and verifies schema and history. */
async function upToDate(store: Store): Promise<Verification> {
  const database = await openDatabase(store, () => {});
  try {
    await migrate(database);
    assert.deepEqual(await database.snapshot((view) => schemaFaults(view, store.engine)), []);
    return await verifyHistory(database, readCheckpoints(store.storage), ROW_CHECKS);
  } finally {
    await database.close();
  }
}
