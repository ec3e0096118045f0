// PostgreSQL at its worst: a standby that does not answer, connections that are cut. Nothing counts that is not certain.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { Fence } from '../../src/journal/known-seal.ts';
import { OperationalError } from '../../src/lib/errors.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { Subject } from '../../src/operate/checks/check.ts';
import { CHECKS } from '../../src/operate/checks/checks.ts';
import { openPostgres, Readers } from '../../src/store/postgres.ts';
import { Budget } from '../../src/store/postgres-connection.ts';
import { Hosts } from '../../src/store/postgres-hosts.ts';
import { freePorts } from '../support/free-ports.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually, LONGER_THAN_A_TEST_MS, until } from '../support/waiting.ts';

/** A bound where the event loop is held up, and with it the test's own. */
const PATIENCE_MS = 240_000;
const CUTS = 30;
const CUT_EACH_MS = 50;

/** A log, and its lines. */
function listener() {
  const lines: string[] = [];
  return { lines, log: createLogger('info', { write: (line: string) => void lines.push(line) }) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'; // else it is another account's
  }
}

describe('a PostgreSQL in trouble', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let operator: pg.Client;
  let service: Harness;

  before(async () => {
    // A cluster of its own: what is set below is set for all of a cluster's databases.
    server = await startPostgres();
    const { storage } = await temporaryStore('sqlite');
    const drop = async () => rmSync(storage, { recursive: true, force: true });
    service = await startHarness('postgres', {
      store: { engine: 'postgres', storage, database_url: server.url, drop },
    });
    operator = new pg.Client(server.url);
    await operator.connect();
  });
  after(async () => {
    await demandStandby(false);
    await service.close();
    await operator.end();
    await server.stop();
  });
  beforeEach(async () => {
    await demandStandby(false);
    await eventually(
      async () =>
        (await service.request('/v1/payments', { method: 'POST', body: { amount: 1 } })).status === 201,
    );
  });

  /** With a standby demanded that does not exist, every commit waits for ever. */
  async function demandStandby(wanted: boolean): Promise<void> {
    await operator.query(`alter system set synchronous_standby_names = '${wanted ? 'nobody' : ''}'`);
    await operator.query('select pg_reload_conf()');
    await eventually(async () => {
      const { rows } = await operator.query('show synchronous_standby_names');
      return rows[0].synchronous_standby_names === (wanted ? 'nobody' : '');
    });
    if (wanted) await eventually(commitsWait);
  }

  /** Whether a commit waits for the standby: what was demanded counts when the server's checkpointer has read it. */
  async function commitsWait(): Promise<boolean> {
    const writer = new pg.Client(server.url);
    await writer.connect();
    let isThrough = false;
    const commit = writer
      .query("select pg_logical_emit_message(true, '', '')")
      .then(() => (isThrough = true));
    let waits = false;
    await eventually(async () => {
      waits = (await interrupt('cancel')) || waits;
      return isThrough;
    });
    await commit;
    await writer.end();
    return waits;
  }

  /** Applies `pg_cancel_backend` or `pg_terminate_backend` to whoever waits for the standby. */
  async function interruptWait(how: 'cancel' | 'terminate'): Promise<void> {
    await eventually(() => interrupt(how));
  }

  /** Whether anybody waited. */
  async function interrupt(how: 'cancel' | 'terminate'): Promise<boolean> {
    const { rows } = await operator.query(
      `select pg_${how}_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
    );
    return rows.length > 0;
  }

  /** Tells all of the program's connections to end; gives their processes, which may take a moment. */
  async function terminateAll(): Promise<number[]> {
    const { rows } = await operator.query(
      "select pid, pg_terminate_backend(pid) from pg_stat_activity where application_name = 'counterfoil'",
    );
    return rows.map(({ pid }) => pid);
  }

  /** Waits until the server has ended processes of its own, their last words sent. */
  const goneFromServer = (pids: number[]) =>
    eventually(async () => {
      const { rowCount } = await operator.query('select from pg_stat_activity where pid = any($1)', [pids]);
      return rowCount === 0;
    });

  /** Does nothing and hears nothing until a process on this machine is gone. */
  function standStillUntilGone(pid: number): void {
    const deadline = performance.now() + PATIENCE_MS;
    while (isAlive(pid)) assert.ok(performance.now() < deadline, `process ${pid} did not end in time`);
  }

  const create = (key: string) =>
    service.request('/v1/payments', {
      method: 'POST',
      body: { amount: 5, merchant_reference: key },
      headers: { 'idempotency-key': key },
    });

  for (const how of ['cancel', 'terminate'] as const) {
    test(`a commit whose wait for a standby was cut by ${how} is not acknowledged, and its retry finds what stands`, async () => {
      await demandStandby(true);
      const answer = create(`standby-${how}`);
      await interruptWait(how);
      const { status, json, headers } = await answer;
      assert.equal(status, 503);
      assert.equal(json.error.code, 'unavailable');
      assert.ok(headers.get('retry-after'));
      const early = create(`standby-${how}`);
      await interruptWait(how); // the retry waits as well: what it sees is on no standby
      assert.equal((await early).status, 503);
      await demandStandby(false);
      const retry = await create(`standby-${how}`);
      assert.equal(retry.status, 201);
      assert.equal(retry.headers.get('idempotency-replayed'), 'true', 'it had been committed locally');
      const list = await service.request(`/v1/payments?merchant_reference=standby-${how}`);
      assert.equal(list.json.data.length, 1);
    });
  }

  test('a cancellation that is on no standby is not acknowledged by a second one without a key, which changes nothing', async () => {
    const { id } = (await create('to-cancel')).json.data;
    const cancel = () => service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
    await demandStandby(true);
    const isCancelled = async () => {
      const rows = await service.service.database.query('select status from payments where id = ?', id);
      return rows[0]!.status === 'cancelled';
    };
    const cutShort = async () => {
      const answer = cancel();
      await interruptWait('cancel');
      assert.equal((await answer).status, 503);
    };
    await eventually(async () => {
      await cutShort(); // another commit may have waited in its place
      return isCancelled();
    });
    await cutShort();
    await demandStandby(false);
    assert.equal((await cancel()).status, 409, 'it stands by now');
  });

  test('a seal that is on no standby is not signed, by the last round of a stop neither', async () => {
    const signed = () => readCheckpoints(service.store.storage).checkpoints.at(-1)?.seal;
    await service.stop();
    await service.start();
    const before = signed();
    await demandStandby(true);
    await eventually(async () => {
      const answer = create('unsigned');
      await interruptWait('cancel'); // another commit may have waited in its place
      assert.equal((await answer).status, 503);
      const { database } = service.service;
      return (
        (await database.query("select 1 from payments where merchant_reference = 'unsigned'")).length > 0
      );
    });
    let stopped = false;
    const stopping = service.stop().finally(() => (stopped = true));
    await eventually(async () => {
      if (!stopped) await interrupt('cancel'); // the uses of keys, then the seal
      return stopped;
    });
    await stopping;
    assert.equal(signed(), before);
    await demandStandby(false);
    await service.start();
    await service.stop();
    assert.notEqual(signed(), before, 'with nothing to wait for it is signed');
    await service.start();
  });

  test('a server whose accounts may not ask for timelines is used without them', async () => {
    await operator.query("create role app login password 'its own'");
    await operator.query('revoke execute on function pg_walfile_name(pg_lsn) from public');
    const url = new URL(server.url);
    [url.username, url.password] = ['app', 'its own'];
    const database = await openPostgres(url.href, new Fence(undefined, createLogger('silent')));
    assert.deepEqual(await database.query('select 1 as one'), [{ one: 1 }]);
    assert.equal(await database.transaction(async () => 'written'), 'written');
    await database.close();
  });

  test('reads whose time is up while they wait for a connection leave nobody else without one', async () => {
    const readers = new Readers(new Hosts(server.url, undefined));
    for (let times = 0; times < 4; times++) {
      const busy = Array.from({ length: 4 }, () =>
        readers.lend(new Budget(LONGER_THAN_A_TEST_MS), (connection) =>
          connection.run('select pg_sleep(0.05)', [], LONGER_THAN_A_TEST_MS),
        ),
      );
      const spent = new Budget(-1);
      await assert.rejects(
        readers.lend(spent, async () => {}),
        /used up/,
      );
      await Promise.all(busy);
    }
    assert.equal(await readers.lend(new Budget(LONGER_THAN_A_TEST_MS), async () => 'served'), 'served');
    await readers.close();
  });

  test('a host that does not answer is logged once, with its address and why', async () => {
    const [silent] = await freePorts(1);
    const url = new URL(server.url);
    const { lines, log } = listener();
    const guard = new Fence(undefined, log);
    const hosts = new Hosts(url.href.replace('@', `@127.0.0.1:${silent},`), guard);
    for (let times = 0; times < 2; times++)
      (await hosts.connect(new Budget(LONGER_THAN_A_TEST_MS), 'read')).discard();
    const told = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      told.map(({ msg, host, reason }) => [msg, host, reason]),
      [
        [
          'a host of the database is not used',
          `127.0.0.1:${silent}`,
          `does not answer: connect ECONNREFUSED 127.0.0.1:${silent}`,
        ],
      ],
    );
  });

  test('a refused sign-in, and a wait or a silence that the server cuts short, are troubles of the database and no defects', async () => {
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await assert.rejects(openPostgres(wrong.href), { failure: 'unavailable' });

    const database = await openPostgres(server.url);
    try {
      // Heard of while nothing is asked, and as the answer to what is asked next.
      for (const wait of [async (pid: number) => goneFromServer([pid]), standStillUntilGone]) {
        const silent = database.transaction(async (transaction) => {
          const [session] = await transaction.query<{ pid: number }>(
            "select pg_backend_pid() as pid, set_config('idle_in_transaction_session_timeout', '50', true)",
          );
          await wait(session!.pid);
          await transaction.query('select 1');
        });
        await assert.rejects(silent, { failure: 'unavailable' });
      }
      await operator.query('select pg_advisory_lock(7391)');
      const impatient = database.transaction(async (transaction) => {
        await transaction.query("select set_config('lock_timeout', '50', true)");
        await transaction.query('select pg_advisory_xact_lock(7391)');
      });
      await assert.rejects(impatient, { failure: 'unavailable' });
      await operator.query('select pg_advisory_unlock(7391)');
      const [limit] = await database.transaction((transaction) =>
        transaction.query("select current_setting('lock_timeout') as told"),
      );
      assert.deepEqual(limit, { told: '0' });
    } finally {
      await database.close();
    }
  });

  test('where no host answers, the error says of each why, without the password', async () => {
    const [one, other] = await freePorts(2);
    const { lines, log } = listener();
    const guard = new Fence(undefined, log);
    const hosts = new Hosts(`postgres://app:hidden@127.0.0.1:${one},127.0.0.1:${other}/db`, guard);
    await hosts
      .connect(new Budget(LONGER_THAN_A_TEST_MS), 'read')
      .catch((error) => log.warn({ err: error }, 'failed'));
    assert.equal(lines.length, 1, 'whoever opens a store is told by the error alone');
    for (const port of [one, other])
      assert.match(
        JSON.parse(lines[0]!).err.reason,
        new RegExp(`127\\.0\\.0\\.1:${port} does not answer: connect ECONNREFUSED`),
      );
    assert.doesNotMatch(lines[0]!, /hidden/);
  });

  test('two servers that take writes are a warning of doctor, also on one timeline', async () => {
    const check = CHECKS.find(({ id }) => id === 'database_hosts')!;
    const [running, own] = [new URL(process.env.COUNTERFOIL_TEST_POSTGRES!), new URL(server.url)];
    const database_url = running.href.replace(running.host, `${running.host},${own.host}`);
    const subject = { settings: { database_url }, deadlineMs: LONGER_THAN_A_TEST_MS };
    const { is, says } = await check.look(subject as Subject);
    assert.equal(is, 'warning');
    for (const { host } of [running, own]) assert.ok(says.includes(`${host} is a primary`), says);
  });

  test('doctor warns of standbys that each write waits for and that are not there', async () => {
    const standbys = async () => {
      const check = CHECKS.find(({ id }) => id === 'standbys')!;
      const { is, says, fix } = await check.look({
        store: { database: service.service.database },
      } as Subject);
      if (is === 'warning')
        // A primary that was cut off would acknowledge alone: first whether another was promoted.
        assert.match(fix!, /^make sure that no standby was promoted .*Only then start .*last resort.*names/);
      return `${is}: ${says}`;
    };
    assert.equal(await standbys(), 'skipped: No commit waits for a standby');
    await demandStandby(true);
    const waits = 'each write waits until enough are, and is answered 503';
    assert.equal(await standbys(), `warning: Commits wait for 1 standby, and none is connected: ${waits}`);
    for (const names of ['any 2 (a, b, c)', 'FIRST 2 (a, b)', '2(a,b)']) {
      await operator.query(`alter system set synchronous_standby_names = '${names}'`);
      await operator.query('select pg_reload_conf()');
      const told = `warning: Commits wait for 2 standbys, and none is connected: ${waits}`;
      await eventually(async () => (await standbys()) === told);
    }
  });

  /** Serves the store with little time for an answer, meanwhile. */
  async function inHaste(use: (hasty: Harness) => Promise<void>): Promise<void> {
    await service.stop();
    const store = { ...service.store, drop: async () => {} };
    // A start has no more time than an answer: a machine that stands still gives it up.
    const start = () => startHarness('postgres', { store, pace: { answerMs: 5000 } }).catch(() => undefined);
    const hasty = (await until(start, Boolean))!;
    try {
      await use(hasty);
    } finally {
      await demandStandby(false);
      await hasty.close();
      await service.start();
    }
  }

  test('a commit that waits for ever is given up by the deadline', () =>
    inHaste(async (hasty) => {
      await demandStandby(true);
      const answer = await hasty.request('/v1/payments', { method: 'POST', body: { amount: 1 } });
      assert.equal(answer.status, 503);
    }));

  test('many slow statements, works behind them, and reads that find no connection free are given up by the deadline', () =>
    inHaste(async ({ service: { journal, database } }) => {
      const slow = () =>
        journal.commit(async (transaction) => {
          for (let i = 0; i < 30; i++) await transaction.query('select pg_sleep(0.9)');
        });
      const isGivenUp = (what: Promise<unknown>) =>
        assert.rejects(what, ({ code, failure }) => code === 'unavailable' || failure === 'unavailable');
      const reads = Array.from({ length: 10 }, () => database.query('select pg_sleep(60)'));
      await Promise.all([slow(), slow(), ...reads].map(isGivenUp));
    }));

  test('connections cut while idle are noticed, and the next commit stands', async () => {
    await goneFromServer(await terminateAll());
    assert.equal((await create('after-idle-cut')).status, 201);
    assert.equal((await service.request('/v1/payments')).status, 200);
  });

  test('a connection cut in a transaction answers unavailable, and the next commit stands', async () => {
    const { journal } = service.service;
    const cut = journal.commit(async (transaction) => {
      await terminateAll();
      await transaction.query('select 1');
    });
    await assert.rejects(cut, (error) => error instanceof OperationalError && error.code === 'unavailable');
    assert.equal((await create('after-cut')).status, 201);
  });

  test('connections cut at random under load lose and double nothing', async () => {
    const statuses = new Map<number, number>();
    const keys = Array.from({ length: 300 }, (_, i) => `cut-${i}`);
    let open = keys.length;
    const cutting = (async () => {
      for (let cuts = 0; cuts < CUTS && open > 0; cuts++) {
        await delay(CUT_EACH_MS);
        await goneFromServer(await terminateAll());
      }
    })();
    await Promise.all(
      keys.map(async (key, i) => {
        await delay(i);
        for (;;) {
          const { status } = await create(key);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status === 201) break;
          assert.ok(status === 503 || status === 409, `${key} answered ${status}`);
          await delay(30);
        }
        open--;
      }),
    );
    await cutting;
    const doubled = await operatorOn(
      "select merchant_reference from payments where merchant_reference like 'cut-%' group by merchant_reference having count(*) <> 1",
    );
    assert.deepEqual(doubled, []);
    const found = await operatorOn(
      "select count(*)::int as n from payments where merchant_reference like 'cut-%'",
    );
    assert.deepEqual(found, [{ n: keys.length }]);
    await service.verify();
  });

  async function operatorOn(sql: string): Promise<object[]> {
    const client = new pg.Client(service.store.database_url!);
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  }
});
