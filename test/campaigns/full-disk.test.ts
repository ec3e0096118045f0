// A start on a disk that is full, in production: what is stored is served, changes wait for room, and no person is needed for the way back.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, globSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import pg from 'pg';
import { newSecret, sha256Hex } from '../../src/lib/secrets.ts';
import { COMMAND, run, start } from '../support/command.ts';
import { freePort } from '../support/free-ports.ts';
import { ask, LIVE_KEY, startHarness } from '../support/harness.ts';
import { type Installation, installation, SAFE } from '../support/production.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';
import { requireAll, requireSound } from './disk-full.ts';
import { becomesWithin } from './promised-time.ts';
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from './small-disk.ts';

/** Far less than the 512 MiB that a first start needs. */
const DISK_MIB = 32;
const BACK_WITHIN_MS = 1000;
const NOBODY = 65534;

const get = (server: ServerProcess, path: string, key = LIVE_KEY) => ask(server.origin, path, { key });
const create = ({ origin }: ServerProcess) =>
  ask(origin, '/v1/payments', { method: 'POST', key: LIVE_KEY, body: { amount: 1 } });

/** Creates until the disk takes no more. Returns the last payment that was created. */
async function untilRefused(server: ServerProcess, created: Map<string, string>): Promise<void> {
  await eventually(async () => {
    const { status, text, json } = await create(server);
    if (status === 503) return true;
    assert.equal(status, 201, text);
    const { data } = json;
    created.set(data.id, JSON.stringify(data));
    return false;
  });
}

/** What a service on a full disk does. */
async function requireReading(server: ServerProcess, created: Map<string, string>): Promise<void> {
  await untilRefused(server, created);
  assert.equal((await create(server)).json.error.code, 'unavailable');
  const [id, text] = [...created].at(-1)!;
  assert.equal(JSON.stringify((await get(server, `/v1/payments/${id}`)).json.data), text);
  assert.equal((await get(server, '/health')).status, 503);
  assert.deepEqual((await get(server, '/health/ready')).json.failing, ['store_writable']);
  await eventually(
    () => server.output.some((line) => line.includes('the disk is full')),
    () => server.output.join('\n'),
  );
}

/** A key that is taken out of the file is refused, although the disk has no room. */
async function requireKeyLeaves(server: ServerProcess, { write }: Installation, key: string): Promise<void> {
  const status = async () => (await get(server, '/v1/payments', key)).status;
  assert.equal(await status(), 200);
  write(SAFE);
  server.child.kill('SIGHUP');
  await becomesWithin(BACK_WITHIN_MS, 401, status);
}

async function requireBack(server: ServerProcess, disk: SmallDisk): Promise<void> {
  disk.free();
  await becomesWithin(BACK_WITHIN_MS, 201, async () => (await create(server)).status);
  await becomesWithin(BACK_WITHIN_MS, 200, async () => (await get(server, '/health')).status);
}

for (const end of ['SIGTERM', 'SIGKILL'] as const) {
  test(`on SQLite, after ${end}, with no byte left: reads are served, changes are 503, and all is back within a second of room.`, {
    skip: whyNoSmallDisk('ext4') ?? false,
  }, async () => {
    const disk = mountSmallDisk('ext4', DISK_MIB);
    const leaving = newSecret('cfk_live_');
    const place = installation(`${SAFE}      - key_sha256: ${sha256Hex(leaving)}\n        mode: live\n`);
    const created = new Map<string, string>();
    let server: ServerProcess | undefined;
    try {
      const env = { COUNTERFOIL_STORAGE: disk.directory };
      const refused = await run(['serve'], { cwd: place.folder, env: { ...env, PORT: '0' } });
      assert.equal(refused.code, 78, 'a first start on so small a disk is refused');
      assert.equal((await run(['migrate'], { cwd: place.folder, env })).code, 0);
      const port = await freePort();
      const start = () => startServerProcess({ config: place.config, port, storage: disk.directory });
      server = await start();
      const { data } = (await create(server)).json;
      created.set(data.id, JSON.stringify(data));

      for (let round = 0; round < 2; round++) {
        await server.end(end);
        disk.fill();
        server = await start();
        await requireReading(server, created);
      }
      await requireBack(server, disk);
      await server.end('SIGTERM');
      disk.fill();
      server = await start();
      await requireReading(server, created);
      await requireKeyLeaves(server, place, leaving);
      await requireBack(server, disk);
      await requireAll(server, { acknowledged: created, refused: 0 }, LIVE_KEY);
      assert.equal(await server.end('SIGTERM'), 0, server.output.join('\n'));
      await requireSound(disk);
      assert.equal(statSync(join(disk.directory, 'reserve')).mode & 0o777, 0o600);
    } finally {
      if (server?.child.exitCode === null) await server.end('SIGKILL');
      disk.remove();
      place.remove();
    }
  });
}

test('a disk that root filled, of which ext4 keeps a part for root: a start as another account ends with 78 and says why.', {
  skip: whyNoSmallDisk('ext4') ?? false,
}, async () => {
  const disk = mountSmallDisk('ext4', DISK_MIB, 5);
  const place = installation(SAFE);
  try {
    const env = { COUNTERFOIL_STORAGE: disk.directory, PORT: '0', COUNTERFOIL_CONFIG: place.config };
    assert.equal((await run(['migrate'], { cwd: place.folder, env })).code, 0);
    chmodSync(dirname(disk.directory), 0o755);
    chmodSync(place.folder, 0o755);
    for (const path of [place.config, disk.directory, ...globSync(`${disk.directory}/*`)])
      chownSync(path, NOBODY, NOBODY);
    const asNobody = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', process.execPath, COMMAND];
    const serve = () => start('setpriv', [...asNobody, 'serve'], { env });
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const server = serve();
      await server.until(/"ready"/);
      server.child.kill(signal);
      await server.ended;
      disk.fill();
      const refused = serve();
      assert.equal((await refused.ended).code, 78, refused.stderr);
      assert.match(
        refused.stderr,
        /^counterfoil: the disk of \S+ has no room for this account.*"The disk is full"\)$/m,
      );
      disk.free();
    }
    const server = serve();
    await server.until(/"ready"/);
    server.child.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
  } finally {
    disk.remove();
    place.remove();
  }
});

describe("on PostgreSQL, the database's disk", () => {
  test('is full at a start: reads are served, changes are 503, and all is back within a second of room.', {
    skip: whyNoSmallDisk('tmpfs') ?? false,
  }, async () => {
    const disk = mountSmallDisk('tmpfs', DISK_MIB);
    const store = await temporaryStore('postgres');
    const admin = new pg.Client(Object.assign(new URL(store.database_url!), { pathname: '/postgres' }).href);
    await admin.connect();
    const name = new URL(store.database_url!).pathname.slice(1);
    const { rows } = await admin.query('show data_directory');
    const { uid, gid } = statSync(rows[0].data_directory);
    chmodSync(dirname(disk.directory), 0o755);
    chownSync(disk.directory, uid, gid);
    await admin.query(`create tablespace ${name} location '${disk.directory}'`);
    await admin.query(`alter database ${name} set tablespace ${name}`);
    const service = await startHarness('postgres', { store });
    const status = async (path: string) => (await service.request(path)).status;
    const make = () =>
      service.request('/v1/payments', {
        method: 'POST',
        body: { amount: 1, metadata: { x: 'x'.repeat(4000) } },
      });
    try {
      const { id } = await service.create();
      // PostgreSQL writes a file of its catalogue at the first connection after the schema changed, which needs room.
      const first = new pg.Client(store.database_url!);
      await first.connect();
      await first.end();
      disk.fill();
      await eventually(async () => (await make()).status === 503);
      await becomesWithin(BACK_WITHIN_MS, 503, () => status('/health'));
      await service.stop();
      await service.start();
      await eventually(async () => (await make()).status === 503);
      assert.equal(await status(`/v1/payments/${id}`), 200);
      await becomesWithin(BACK_WITHIN_MS, 503, () => status('/health'));
      const { json } = await service.request('/health/ready');
      assert.deepEqual(json.failing, ['store_writable']);
      disk.free();
      await becomesWithin(BACK_WITHIN_MS, 201, async () => (await make()).status);
      await becomesWithin(BACK_WITHIN_MS, 200, () => status('/health'));
      await service.verify();
    } finally {
      await service.close();
      await admin.query(`drop tablespace ${name}`);
      await admin.end();
      disk.remove();
    }
  });
});
