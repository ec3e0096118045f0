// counterfoil backup and restore of a store in PostgreSQL, by PostgreSQL's own tools, and the lines that docs/operating/backup-and-move.md gives by hand.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { holdStorage } from '../../../src/store/open.ts';
import { type BackupPlace, backupPlace, copyKeys } from '../../support/backups.ts';
import { plainEnvironment, ROOT, run, start, temporaryFolder } from '../../support/command.ts';
import {
  type DebianPostgres,
  debianPostgres,
  PASSWORD,
  startDebianPostgres,
} from '../../support/debian-postgres.ts';
import { freePort } from '../../support/free-ports.ts';
import { KEY } from '../../support/harness.ts';
import { loadClient } from '../../support/load-client.ts';
import { copyProgram } from '../../support/program-copy.ts';
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts';

const PATH = `${debianPostgres}${delimiter}${process.env.PATH}`;
/** An end that was asked for comes within this, on a machine that others use. */
const GONE_WITHIN_MS = 3000;

describe('on PostgreSQL', {
  skip: !debianPostgres && "no PostgreSQL of the machine's packages, whose pg_dump is needed",
}, () => {
  const configuration = temporaryFolder();
  const storage = mkdtempSync(join(tmpdir(), 'counterfoil-test-'));
  let postgres: DebianPostgres;
  let database_url: string;
  let server: ServerProcess;
  let place: BackupPlace;
  before(async () => {
    postgres = await startDebianPostgres();
    database_url = await postgres.createDatabase('counterfoil');
    place = backupPlace({ storage, database_url }, { PATH });
    server = await serve(storage, database_url);
    await create(server, 3);
  });
  after(async () => {
    server.child.kill('SIGKILL');
    postgres.stop();
    place.remove();
    configuration.remove();
    rmSync(storage, { recursive: true });
  });

  const serve = async (storage: string, database_url: string) =>
    startServerProcess({ config: configuration.config, port: await freePort(), storage, database_url });
  const create = async ({ origin }: ServerProcess, count: number) => {
    const client = loadClient(origin, KEY, 1);
    for (let i = 0; i < count; i++)
      assert.equal((await client.post('/v1/payments', { amount: 1 }))?.status, 201);
    client.close();
  };
  const verify = async (storage: string, database_url: string, ...args: string[]) => {
    const env = {
      COUNTERFOIL_CONFIG: configuration.config,
      COUNTERFOIL_STORAGE: storage,
      DATABASE_URL: database_url,
    };
    const { code, stdout, stderr } = await run(['audit', 'verify', '--json', ...args], { env });
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout);
  };

  test('a backup is the dump of the very state that was verified, with the checkpoints from before it', async () => {
    assert.equal(await server.end('SIGTERM'), 0); // signs a checkpoint
    server = await serve(storage, database_url);
    const path = await place.backUp();
    assert.deepEqual(readdirSync(path).sort(), [
      'backup.json',
      'checkpoint-key.pub.pem',
      'checkpoints.jsonl',
      'counterfoil.dump',
    ]);
    const { engine, entries } = JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8'));
    assert.equal(engine, 'postgres');
    await create(server, 2);

    const empty = await postgres.createDatabase('restored');
    const fresh = place.freshStorage();
    const env = {
      PATH,
      COUNTERFOIL_CONFIG: configuration.config,
      COUNTERFOIL_STORAGE: fresh,
      DATABASE_URL: empty,
    };

    const onEmpty = new pg.Client(empty);
    await onEmpty.connect();
    await onEmpty.query('create table orders ()');
    const strange = await run(['restore', path], { env });
    assert.equal(strange.code, 1);
    assert.match(
      strange.stderr,
      /^counterfoil: the database holds tables of something else \(orders\): make .*\n$/,
    );
    await onEmpty.query('drop table orders');
    await onEmpty.end();

    // Killed when the database is filled and nothing of the store is in place yet.
    const program = copyProgram();
    const step = 'await bringUpToDate(settings, list.engine);';
    program.change(
      'src/operate/commands/place-backup.ts',
      step,
      `process.kill(process.pid, 'SIGKILL'); ${step}`,
    );
    const args = [program.command, 'restore', path];
    const killed = start(process.execPath, args, { env: { ...env, ...program.env } });
    assert.equal((await killed.ended).signal, 'SIGKILL', killed.stderr);
    program.remove();
    const early = await run(['serve', '--config', configuration.config], { env });
    assert.deepEqual([early.code, early.stdout], [78, ''], 'no server begins on it with a key of its own');
    assert.match(early.stderr, /^counterfoil: a restore into \S+ is unfinished: run the same .*\n$/);
    const release = holdStorage({ storage: fresh });
    const second = await run(['restore', path], { env });
    assert.match(second.stderr, /another server holds the store/, 'of two restores one waits');
    release();

    const restored = await run(['restore', path], { env });
    assert.deepEqual([restored.code, restored.stderr], [0, '']);
    const told = new RegExp(
      `^Restored ${entries} entries, the newest of \\S+, to the database restored on 127.0.0.1:\\d+ and \\S+; verified`,
    );
    assert.match(restored.stdout, told);
    const { payments, checkpoints } = await verify(fresh, empty);
    assert.deepEqual({ payments, checkpoints }, { payments: 3, checkpoints: 1 });

    copyKeys(storage, fresh);
    const restarted = await serve(fresh, empty);
    await create(restarted, 1);
    assert.equal(await restarted.end('SIGTERM'), 0);
    const again = await run(['restore', path, '--replace'], { env });
    assert.equal(again.code, 1);
    assert.match(
      again.stderr,
      /is not empty, and nothing in it is replaced: make another, and name that one\n$/,
    );
    assert.equal((await verify(fresh, empty)).payments, 4);
  });

  test('of several hosts the one is dumped that the service uses, wherever in the list it stands', async () => {
    // Beside it in the list one of the same name that takes no writes, as a former primary that follows by now.
    const other = new URL(process.env.COUNTERFOIL_TEST_POSTGRES!);
    const admin = new pg.Client(other.href);
    await admin.connect();
    await admin.query('create database counterfoil');
    await admin.query('alter database counterfoil set default_transaction_read_only = on');
    await admin.query(`create role counterfoil_twin superuser login password '${PASSWORD}'`);
    const here = new pg.Client(database_url);
    await here.connect();
    await here.query(`create role counterfoil_twin superuser login password '${PASSWORD}'`);
    await here.end();
    const both = `postgres://counterfoil_twin:${PASSWORD}@127.0.0.1:${other.port},127.0.0.1:${here.port}/counterfoil`;
    const twin = backupPlace({ storage, database_url: both }, { PATH });
    try {
      const { code, stderr } = await twin.command(['backup', twin.folder]);
      assert.deepEqual([code, stderr], [0, '']);
    } finally {
      twin.remove();
      await admin.query('drop database counterfoil with (force)');
      await admin.query('drop role counterfoil_twin');
      await admin.end();
    }
  });

  /** The command lines of the dumps that are at work. */
  const dumps = () =>
    execFileSync('ps', ['-eo', 'args', '--cols', '4000'], { encoding: 'utf8' })
      .split('\n')
      .filter((one) => one.includes('pg_dump') && one.includes(place.folder))
      .join('\n');
  /** Begins a backup whose dump waits until `client` is ended. */
  const beginWaiting = async () => {
    const client = new pg.Client(database_url);
    await client.connect();
    await client.query('begin; lock table payments in access exclusive mode');
    const backup = place.begin(['backup', place.folder]);
    let line = '';
    while (!line.includes('--format=custom')) {
      assert.equal(backup.child.exitCode, null, backup.stderr);
      line = dumps();
    }
    return { client, backup, line };
  };

  test('one that is interrupted takes the tool that works for it along', async () => {
    const { client, backup } = await beginWaiting();
    const waiting = async () => (await client.query('select from pg_locks where not granted')).rowCount! > 0;
    while (!(await waiting())) assert.equal(backup.child.exitCode, null, backup.stderr);
    backup.child.kill('SIGTERM');
    assert.equal((await backup.ended).signal, 'SIGTERM');
    const deadline = performance.now() + GONE_WITHIN_MS;
    while (dumps() !== '' && performance.now() < deadline) await delay(50);
    const left = dumps();
    await client.end();
    assert.equal(left, '');
  });

  test('the password stands in no command line, whatever is in it', async () => {
    const { client, backup, line } = await beginWaiting();
    await client.end();
    assert.equal((await backup.ended).code, 0, backup.stderr);
    for (const part of PASSWORD.split('@')) assert.ok(!line.includes(part), line);
  });

  test('where the tools are missing or too old, that is told in one line, and nothing is left', async () => {
    const without = backupPlace({ storage, database_url }, { PATH: '/nonexistent' });
    const { code, stderr } = await without.command(['backup', without.folder]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^counterfoil: pg_dump is not installed: it comes with PostgreSQL's client programs, .*\n$/,
    );
    assert.deepEqual(readdirSync(without.folder), []);
    const newer = backupPlace({ storage, database_url: process.env.COUNTERFOIL_TEST_POSTGRES! }, { PATH });
    const refused = await newer.command(['backup', newer.folder]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^counterfoil: .*(server version mismatch|holds no store).*\n$/);
    without.remove();
    newer.remove();
  });

  test('the lines that docs/operating/backup-and-move.md gives for doing it by hand do it', async () => {
    const page = readFileSync(join(ROOT, 'docs/operating/backup-and-move.md'), 'utf8');
    const [dump] = /^umask 077\n[\s\S]*?(?=^```)/m.exec(page)!;
    const [restore] = /^pg_restore [^\n]*\n(?=DATABASE_URL)/m.exec(page)!;
    const backups = mkdtempSync(join(tmpdir(), 'counterfoil-backups-'));
    const here = (text: string) =>
      text.replaceAll('/var/backups/counterfoil', backups).replaceAll('/var/lib/counterfoil', storage);
    const RESTORED_URL = await postgres.createDatabase('by_hand');
    const encoded = (url: string) => url.replace(PASSWORD, encodeURIComponent(PASSWORD)); // as libpq wants it
    const environment = plainEnvironment({
      PATH,
      DATABASE_URL: encoded(database_url),
      RESTORED_URL: encoded(RESTORED_URL),
    });
    execFileSync('sh', ['-euc', here(`${dump}\n${restore}`)], { env: environment });
    const [moment] = readdirSync(backups);
    const { payments } = await verify(join(backups, moment!), RESTORED_URL);
    assert.equal(payments, 5);
    rmSync(backups, { recursive: true });
  });
});
