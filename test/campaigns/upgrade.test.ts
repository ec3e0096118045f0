// Upgrades: the schema comes up to date while the version before serves, and a kill in the middle of a migration leaves nothing of it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { knownMigrations } from '../../src/store/migrate.ts';
import { backupPlace } from '../support/backups.ts';
import { start } from '../support/command.ts';
import { freePort } from '../support/free-ports.ts';
import { KEY, startHarness, writeConfiguration } from '../support/harness.ts';
import { loadClient } from '../support/load-client.ts';
import type { ProgramCopy } from '../support/program-copy.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ENGINES, type Engine, type Store, temporaryStore } from '../support/stores.ts';
import { CrashLoad } from './crash-load.ts';
import { type Kill, killMigration, makeMortal } from './migration-kills.ts';
import { NEXT_MIGRATION, nextVersion } from './next-version.ts';
import { Watch } from './watched-client.ts';

const CLIENTS = 32;
const PAUSE_MS = 40;
/** So many more answers before the migration begins, and after it. */
const ANSWERS = 150;
/** No answer of the version before takes longer while the next one migrates: it waits for it, and other tests share the machine. */
const PAUSE_MAXIMUM_MS = 5000;

const GOES_ON_WITHIN_MS = 20_000;
/** A machine that stands still makes an answer late: a migration that does so does in each of so many rounds. */
const ROUNDS = 3;

const random = new SeededRandom();

interface Hold {
  /** Lets the migration go on. */
  (): Promise<void>;
  /** Answers when the migration waits. */
  waited(): Promise<void>;
}

/** Gives how long the slowest answer took, how many were 503, and what there is to tell. */
async function upgradeUnderLoad(
  engine: Engine,
  next: ProgramCopy,
): Promise<{ ms: number; givenUp: number; told: string }> {
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
    const { acknowledged, unanswered, givenUp } = await round.finished;
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
    assert.equal(watch.statuses[503] ?? 0, givenUp);
    const ms = Math.round(watch.slowestMs);
    return {
      ms,
      givenUp,
      told: `${engine}: ${acknowledged} acknowledged, ${givenUp} answered 5xx, the slowest answer in ${ms} ms`,
    };
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
      let isQuick = false;
      for (let round = 0; round < ROUNDS && !isQuick; round++) {
        const { ms, givenUp, told } = await upgradeUnderLoad(engine, next);
        context.diagnostic(told);
        isQuick = ms < PAUSE_MAXIMUM_MS && givenUp === 0;
      }
      assert.ok(isQuick, `in each of ${ROUNDS} rounds an answer took ${PAUSE_MAXIMUM_MS} ms, or was 503`);
    });
  }
});

/** Kills of each migration on each engine; without a number, one of each on SQLite and one in all on PostgreSQL. */
const KILLS = Number(process.env.COUNTERFOIL_RUNS) || 0;
/** A migration of a small store takes some ten milliseconds: a kill that is to fall anywhere in it comes within that. */
const KILL_WITHIN_MS = 8;
const PAYMENTS = 30;

type Place = Pick<Store, 'storage' | 'database_url'>;

describe('the next version', () => {
  let next: ProgramCopy;
  before(async () => {
    console.log(
      `upgrade: seed ${random.seed} (COUNTERFOIL_SEED), ${KILLS || 'few'} kills (COUNTERFOIL_RUNS)`,
    );
    next = await nextVersion();
    makeMortal(next);
  });
  after(() => next.remove());

  /** Runs a command of the next version. */
  const command = async ({ storage, database_url }: Place, ...args: string[]) => {
    const running = start(process.execPath, [next.command, ...args], {
      env: { ...next.env, COUNTERFOIL_STORAGE: storage, DATABASE_URL: database_url ?? '' },
    });
    const { code } = await running.ended;
    return { code, stdout: running.stdout, stderr: running.stderr };
  };
  const verifiedPayments = async (store: Place, config: string) => {
    const { code, stdout, stderr } = await command(store, 'audit', 'verify', '--json', '--config', config);
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout).payments;
  };

  // The last meets a store that this version served; those before it make an empty one.
  const migrations = knownMigrations().map(({ version }) => version);
  const last = migrations.length + 1;
  for (const engine of ENGINES) {
    test(`on ${engine} brings a store up to date at its next start, wherever in a migration it was killed`, {
      timeout: Infinity,
    }, async (context) => {
      const all = [...migrations, last];
      const few = engine === 'sqlite' ? all : [random.pick(all)];
      const killed = KILLS > 0 ? all.flatMap((one) => Array<number>(KILLS).fill(one)) : few;
      let inside = 0;
      for (const [index, migration] of killed.entries()) {
        const how = index % 2 === 0 ? 'now' : 'later';
        const kill: Kill = {
          migration,
          part: random.between(0, 999) / 1000,
          how,
          afterMs: random.between(0, KILL_WITHIN_MS),
        };
        const store = migration === last ? await servedStore(engine) : await temporaryStore(engine);
        const config = writeConfiguration(store);
        try {
          if (await killMigration(next, store, kill)) inside++;
          assert.equal((await command(store, 'migrate', '--config', config)).code, 0);
          assert.equal(await verifiedPayments(store, config), migration === last ? PAYMENTS : 0);
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

  test('restores a backup of this version up to date, and makes none of a store that it has not migrated', async () => {
    const store = await servedStore('sqlite');
    const place = backupPlace(store);
    try {
      const backup = await place.backUp();
      const refused = await command(store, 'backup', place.folder, '--config', place.config);
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /schema is of version \d+, this program's is \d+: back it up with the program that serves it/,
      );
      const restored = { storage: place.freshStorage(), database_url: null };
      const done = await command(restored, 'restore', backup, '--config', place.config);
      assert.deepEqual([done.code, done.stderr], [0, '']);
      assert.equal(await verifiedPayments(restored, place.config), PAYMENTS);
    } finally {
      place.remove();
      await store.drop();
    }
  });
});

/** A store that this version served: payments, some of them cancelled, with stored responses. */
async function servedStore(engine: Engine): Promise<Store> {
  const harness = await startHarness(engine);
  for (let i = 0; i < PAYMENTS; i++) {
    const { id } = await harness.create({}, { headers: { 'idempotency-key': `key-${i}` } });
    if (i % 3 === 0) await harness.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
  }
  await harness.stop();
  return harness.store;
}
