// counterfoil backup and restore of a store in PostgreSQL, by PostgreSQL's own tools, and the lines that docs/operating.md gives by hand.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { type BackupPlace, backupPlace } from '../support/backups.ts';
import { plainEnvironment, ROOT, run, temporaryFolder } from '../support/command.ts';
import { type DebianPostgres, debianPostgres, startDebianPostgres } from '../support/debian-postgres.ts';
import { KEY } from '../support/harness.ts';
import { loadClient } from '../support/load-client.ts';
import { freePort } from '../support/postgres-server.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const PATH = `${debianPostgres}${delimiter}${process.env.PATH}`;

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
      'checkpoint-key.pem',
      'checkpoint-key.pub.pem',
      'checkpoints.jsonl',
      'counterfoil.dump',
    ]);
    const { engine, entries, verified } = JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8'));
    assert.deepEqual({ engine, verified }, { engine: 'postgres', verified: true });
    await create(server, 2);

    const empty = await postgres.createDatabase('restored');
    const fresh = place.freshStorage();
    const restore = (url: string, ...args: string[]) =>
      run(['restore', path, ...args], {
        env: {
          PATH,
          COUNTERFOIL_CONFIG: configuration.config,
          COUNTERFOIL_STORAGE: fresh,
          DATABASE_URL: url,
        },
      });
    const restored = await restore(empty);
    assert.deepEqual([restored.code, restored.stderr], [0, '']);
    assert.ok(restored.stdout.startsWith(`Restored ${entries} entries, the newest of `), restored.stdout);
    const { payments, checkpoints } = await verify(fresh, empty);
    assert.deepEqual({ payments, checkpoints }, { payments: 3, checkpoints: 1 });

    const again = await restore(empty, '--replace');
    assert.equal(again.code, 1);
    assert.match(
      again.stderr,
      /is not empty, and nothing in it is replaced: make another, and name that one\n$/,
    );
    const restarted = await serve(fresh, empty);
    await create(restarted, 1);
    assert.equal(await restarted.end('SIGTERM'), 0);
    assert.equal((await verify(fresh, empty)).payments, 4);
  });

  test('the password stands in no command line', async () => {
    const client = new pg.Client(database_url);
    await client.connect();
    await client.query('begin; lock table payments in access exclusive mode'); // the dump waits for it
    const backup = place.begin(['backup', place.folder]);
    let line = '';
    while (!line.includes('--format=custom')) {
      assert.equal(backup.child.exitCode, null, backup.stderr);
      line = execFileSync('ps', ['-eo', 'args', '--cols', '4000'], { encoding: 'utf8' })
        .split('\n')
        .filter((one) => one.includes('pg_dump') && one.includes(place.folder))
        .join('\n');
    }
    await client.end();
    assert.equal((await backup.ended).code, 0, backup.stderr);
    assert.match(line, /postgres:\/\/postgres@127\.0\.0\.1/);
    assert.doesNotMatch(line, /known/);
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
    const refused = await newer.command(['backup', newer.folder, '--no-verify']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^counterfoil: .*(server version mismatch|holds no store).*\n$/);
    without.remove();
    newer.remove();
  });

  test('the lines that docs/operating.md gives for doing it by hand do it', async () => {
    const page = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');
    const [dump] = /^umask 077\n[\s\S]*?(?=^```)/m.exec(page)!;
    const [restore] = /^pg_restore [^\n]*\n(?=DATABASE_URL)/m.exec(page)!;
    const backups = mkdtempSync(join(tmpdir(), 'counterfoil-backups-'));
    const here = (text: string) =>
      text.replaceAll('/var/backups/counterfoil', backups).replaceAll('/var/lib/counterfoil', storage);
    const RESTORED_URL = await postgres.createDatabase('by_hand');
    const environment = plainEnvironment({ PATH, DATABASE_URL: database_url, RESTORED_URL });
    execFileSync('sh', ['-euc', here(`${dump}\n${restore}`)], { env: environment });
    const [moment] = readdirSync(backups);
    const { payments } = await verify(join(backups, moment!), RESTORED_URL);
    assert.equal(payments, 5);
    rmSync(backups, { recursive: true });
  });
});
