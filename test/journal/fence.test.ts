// A node never goes back: a store that lacks what the node knows of is not used, until its operator starts the node anew.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import pg from 'pg';
import { silent } from '../../src/lib/log.ts';
import { systemClock } from '../../src/lib/time.ts';
import { readConfiguration } from '../../src/operate/config.ts';
import { startService } from '../../src/operate/main.ts';
import { DatabaseError } from '../../src/store/database.ts';
import { freePorts } from '../support/free-ports.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { becomes } from '../support/waiting.ts';

describe('the fence', () => {
  let service: Harness;
  let operator: pg.Client;
  let payment: { id: string };

  before(async () => {
    service = await startHarness('postgres');
    operator = new pg.Client(service.store.database_url!);
    await operator.connect();
    // What follows nobody but the owner of the database can do.
    await operator.query('set session_replication_role = replica');
    payment = await service.create();
  });
  after(async () => {
    await operator.end();
    await service.close();
  });
  afterEach(async () => {
    await putBack();
    await cut();
    assert.deepEqual(await answers(), [200, 201], 'with its own history the store is used again');
  });

  /** The newest seals as they were before something was done to them. */
  let kept: object[] = [];
  async function takeSeals(count: number): Promise<void> {
    const { rows } = await operator.query(
      'delete from seals where number > (select max(number) from seals) - $1 returning *',
      [count],
    );
    kept = rows;
  }
  async function putBack(): Promise<void> {
    await operator.query(
      'insert into seals select * from json_populate_recordset(null::seals, $1) on conflict (number) do update set hash = excluded.hash',
      [JSON.stringify(kept)],
    );
    kept = [];
  }

  /** Cuts every connection of the service: the next ones are new. */
  async function cut(): Promise<void> {
    const { rows } = await operator.query(
      "select pid, pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'counterfoil'",
    );
    const pids = rows.map(({ pid }) => pid);
    await becomes(0, async () => {
      return (await operator.query('select from pg_stat_activity where pid = any($1)', [pids])).rowCount;
    });
  }

  /** What a read and a write are answered. */
  async function answers(): Promise<number[]> {
    const read = await service.request(`/v1/payments/${payment.id}`);
    const write = await service.request('/v1/payments', { method: 'POST', body: { amount: 1 } });
    return [read.status, write.status];
  }

  const refusals = () =>
    service.logged
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'a host of the database is not used');

  test('a store that lacks the newest seal is neither read nor written, and the log says so once.', async () => {
    await service.create();
    const already = refusals().length;
    await takeSeals(1);
    await cut();
    for (let again = 0; again < 3; again++) assert.deepEqual(await answers(), [503, 503]);
    const told = refusals().slice(already);
    assert.deepEqual(
      told.map(({ level, host, reason }) => ({ level, host, reason })),
      [
        {
          level: 50,
          host: new URL(service.store.database_url!).host,
          reason: 'has a history that ends before the newest seal this node knows',
        },
      ],
    );
  });

  test('a store with another seal of the same number is not used either.', async () => {
    const { rows } = await operator.query('select * from seals order by number desc limit 1');
    kept = rows;
    await operator.query('update seals set hash = $1 where number = $2', ['another', rows[0].number]);
    await cut();
    assert.deepEqual(await answers(), [503, 503]);
    assert.equal(refusals().at(-1).reason, 'has another history than the one this node knows');
  });

  test('a seal that was seen and never acknowledged is not known: the store that lacks it is used.', async () => {
    await operator.query(
      'insert into seals select number + 1, first_entry, last_entry, at, $1 from seals order by number desc limit 1',
      ['unacknowledged'],
    );
    await cut();
    assert.equal((await service.request(`/v1/payments/${payment.id}`)).status, 200);
    await takeSeals(1);
    kept = [];
  });

  test('a start with all hosts there takes the older copy, as its operator put it there; one that cannot ask all does not.', async () => {
    await service.create();
    await service.stop(); // signs a checkpoint
    await takeSeals(1);
    const [port] = await freePorts(1);
    const url = new URL(service.store.database_url!);
    const both = url.href.replace(url.host, `${url.host},127.0.0.1:${port}`);
    const environment = { PORT: '0', COUNTERFOIL_STORAGE: service.store.storage, DATABASE_URL: both };
    const configuration = readConfiguration(`${service.store.storage}/counterfoil.yaml`, environment);
    const parts = { log: silent, clock: systemClock, onBroken: assert.fail };
    await assert.rejects(
      startService(configuration, parts),
      (error) =>
        error instanceof DatabaseError &&
        error.failure === 'unavailable' &&
        /ends before the .*; 127\.0\.0\.1:\d+ does not answer/.test(error.message),
    );
    await service.start();
    assert.equal((await service.request(`/v1/payments/${payment.id}`)).status, 200);
    await putBack();
  });
});
