// The runbook's entry on a PostgreSQL that is full, walked: of connections, and of data on a small disk.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, before, test } from 'node:test';
import { statementOf } from '../operating/runbook.ts';
import { run, temporaryFolder } from '../support/command.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { type LoadClient, loadClient } from '../support/load-client.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { type Store, temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';
import { mountSmallDisk, whyNoSmallDisk } from './small-disk.ts';
import { borrowedPostgres } from './told-postgres.ts';

const ENTRY = 'PostgreSQL is full';

const postgres = borrowedPostgres();
const { asSuperuser, urlOf, fill } = postgres;
let store: Store;
before(async () => {
  store = await postgres.store();
});
after(() => store?.drop());

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

test('another program has all connections: 503, and back by itself once the runbook ended them', async (t) => {
  const { node, client, end } = await startNode(urlOf('counterfoil', 'counterfoil'));
  t.after(end);
  assert.equal((await create(client))?.status, 201);

  await fill();
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
  await postgres.takeConnections();
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
  const { node, client, end } = await startNode(urlOf('postgres', 'small'));
  t.after(end);

  disk.fill();
  await eventually(async () => (await create(client))?.status === 503);
  await eventually(() => logSays(node, '53100'));
  assert.equal((await client.get('/v1/payments?limit=1'))?.status, 200, 'reads go on');
  disk.free();
  await eventually(async () => (await create(client))?.status === 201);
  await eventually(async () => (await readiness(node)) === 200);
});
