// The runbook's entry on a PostgreSQL that is full, walked: of connections, and of data on a small disk.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { statementOf } from '../operating/runbook.ts';
import { run, temporaryFolder } from '../support/command.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { type LoadClient, loadClient } from '../support/load-client.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';
import { mountSmallDisk, whyNoSmallDisk } from './small-disk.ts';

const CONNECTIONS = 30;
const ENTRY = 'PostgreSQL is full';

let server: Awaited<ReturnType<typeof startPostgres>>;
before(async () => {
  server = await startPostgres(['-c', `max_connections=${CONNECTIONS}`]);
});
after(() => server?.stop());

const urlOf = (username: string, database: string) => {
  const url = new URL(server.url);
  Object.assign(url, { username, password: 'secret', pathname: `/${database}` });
  return url.href;
};

/** Runs statements as the superuser, who has connections reserved. Returns the rows of the last. */
async function asSuperuser(...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.url);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const sql of statements) ({ rows } = await client.query(sql));
    return rows;
  } finally {
    await client.end();
  }
}

/** A node on a database of the server, and a client of it. */
async function startNode(database_url: string) {
  const store = await temporaryStore('sqlite'); // for its folder
  const config = writeConfiguration(store);
  const node = await startServerProcess({ config, port: 0, storage: store.storage, database_url });
  const client = loadClient(node.origin, KEY, 2);
  return {
    node,
    client,
    async end() {
      client.close();
      await node.end('SIGTERM');
      await store.drop();
    },
  };
}

let created = 0;
const create = (client: LoadClient) => {
  const reference = `full-${created++}`;
  return client.post('/v1/payments', { amount: 1, merchant_reference: reference }, reference);
};
const readiness = async ({ origin }: ServerProcess) => (await fetch(`${origin}/health/ready`)).status;
const logSays = ({ output }: ServerProcess, code: string) =>
  output.some((line) => line.includes('"msg":"unavailable"') && line.includes(`"code":"${code}"`));

/** Connects as another program until the server takes no more. */
async function takeAll(held: pg.Client[]): Promise<void> {
  for (;;) {
    const client = new pg.Client(urlOf('other_program', 'postgres'));
    client.on('error', () => {});
    try {
      await client.connect();
    } catch (error) {
      assert.equal((error as { code?: string }).code, '53300');
      return;
    }
    held.push(client);
  }
}

test('another program has all connections: 503, and back by itself once the runbook ended them', async (t) => {
  await asSuperuser(
    "create role counterfoil login password 'secret'",
    "create role other_program login password 'secret'",
    'create database counterfoil owner counterfoil',
  );
  const { node, client, end } = await startNode(urlOf('counterfoil', 'counterfoil'));
  const held: pg.Client[] = [];
  t.after(async () => {
    await Promise.all(held.map((one) => one.end().catch(() => {})));
    await end();
  });
  assert.equal((await create(client))?.status, 201);

  await takeAll(held);
  const folder = temporaryFolder();
  t.after(() => folder.remove());
  const env = { DATABASE_URL: urlOf('counterfoil', 'counterfoil') };
  for (const command of ['administrators list', 'doctor']) {
    const { code, stdout, stderr } = await run(command.split(' '), { cwd: folder.path, env });
    assert.equal(code, 1);
    const said = (stdout + stderr).replace(/\s+/g, ' ');
    assert.match(said, new RegExp(`see "${ENTRY}" in docs/operating/runbook.md`, 'i'), command);
  }
  assert.equal((await create(client))?.status, 201, 'the connections that the node has are its own');
  await asSuperuser(
    'alter role counterfoil nologin',
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'counterfoil'",
  );
  const own = "select count(*) as count from pg_stat_activity where usename = 'counterfoil'";
  await eventually(async () => Number((await asSuperuser(own))[0]!.count) === 0);
  await takeAll(held);
  await asSuperuser('alter role counterfoil login');
  await eventually(async () => (await readiness(node)) === 503);
  assert.equal((await create(client))?.status, 503);
  await eventually(() => logSays(node, '53300'));

  const [most] = await asSuperuser(statementOf(ENTRY, 'select usename'));
  assert.equal(most!.usename, 'other_program', 'look: who has them');
  await asSuperuser(statementOf(ENTRY, 'select pg_terminate_backend').replace('OTHER', 'other_program'));
  await eventually(async () => (await readiness(node)) === 200);
  assert.equal((await create(client))?.status, 201);
});

test('the disk of PostgreSQL is full: writes are 503, reads go on, and all is back once there is room', {
  skip: whyNoSmallDisk('tmpfs') ?? false,
}, async (t) => {
  const disk = mountSmallDisk('tmpfs', 64);
  t.after(() => disk.remove());
  const [data] = await asSuperuser('show data_directory');
  const { uid, gid } = statSync(String(data!.data_directory));
  chmodSync(dirname(disk.directory), 0o755);
  chownSync(disk.directory, uid, gid);
  await asSuperuser(
    `create tablespace small location '${disk.directory}'`,
    'create database small tablespace small',
  );
  t.after(() => asSuperuser('drop database small with (force)', 'drop tablespace small'));
  const { node, client, end } = await startNode(urlOf('postgres', 'small').replace('secret', 'postgres'));
  t.after(end);

  disk.fill();
  await eventually(async () => (await create(client))?.status === 503);
  await eventually(() => logSays(node, '53100'));
  assert.equal((await client.get('/v1/payments?limit=1'))?.status, 200, 'reads go on');
  disk.free();
  await eventually(async () => (await create(client))?.status === 201);
  await eventually(async () => (await readiness(node)) === 200);
});
