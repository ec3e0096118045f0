// What a node acknowledged outlives it: a start is refused on a store that lacks it, also where no checkpoint was signed since.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { knownSeal } from '../../src/journal/known-seal.ts';
import { run } from '../support/command.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ENGINES, type Engine, temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';

const FILE = 'counterfoil.sqlite';

for (const engine of ENGINES)
  test(`on ${engine}, a stale copy is refused after a kill, and taken once that is recorded`, () =>
    stale(engine));

test('a file that is lost right after the first create is not begun anew', async () => {
  const store = await temporaryStore('sqlite');
  const { storage } = store;
  const config = writeConfiguration(store);
  const start = () => startServerProcess({ config, port: 0, storage, database_url: null });
  const server = await start();
  try {
    await create(server);
    await server.end('SIGKILL');
    for (const name of readdirSync(storage)) if (name.startsWith(FILE)) rmSync(join(storage, name));
    await assert.rejects(start(), /exited with 78: .*is missing, but .*vouches for its history/);
  } finally {
    await server.end('SIGKILL');
    await store.drop();
  }
});

async function create({ origin }: ServerProcess): Promise<void> {
  const response = await fetch(`${origin}/v1/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ amount: 10 }),
  });
  assert.equal(response.status, 201);
}

async function stale(engine: Engine): Promise<void> {
  const store = await temporaryStore(engine);
  const { storage, database_url } = store;
  const aside = mkdtempSync(join(tmpdir(), 'counterfoil-aside-'));
  const config = writeConfiguration(store);
  const env = {
    ...{ COUNTERFOIL_CONFIG: config, COUNTERFOIL_STORAGE: storage },
    ...(database_url !== null && { DATABASE_URL: database_url }),
  };
  const start = () => startServerProcess({ config, port: 0, storage, database_url });
  let server: ServerProcess | undefined;
  try {
    server = await start();
    await create(server);
    await server.end('SIGTERM');
    if (database_url === null) copyFileSync(join(storage, FILE), join(aside, FILE));
    else await onServer(database_url, (name) => [`create database ${name}_aside template ${name}`]);
    const before = knownSeal(storage)!.number;

    server = await start();
    await create(server);
    await create(server);
    // The seal of the last one, within a second and without a stop in order.
    await eventually(() => knownSeal(storage)!.number >= before + 2);
    await server.end('SIGKILL');
    if (database_url === null) {
      for (const name of readdirSync(storage)) if (name.startsWith(FILE)) rmSync(join(storage, name));
      copyFileSync(join(aside, FILE), join(storage, FILE));
    } else {
      // As a standby that was behind and is promoted in its place.
      await onServer(database_url, (name) => [
        `drop database ${name} with (force)`,
        `alter database ${name}_aside rename to ${name}`,
      ]);
    }

    await assert.rejects(start(), /exited with 78: .*this node had acknowledged/);
    const doctor = await run(['doctor'], { env });
    const [, , first] = doctor.stdout.split('\n');
    assert.match(first!, /failed +Vouched history/);
    const restored = await run(['audit', 'restored'], { env });
    assert.equal(restored.code, 0, restored.stderr);
    server = await start();
    await create(server);
    assert.equal((await run(['audit', 'verify'], { env })).code, 0);
  } finally {
    await server?.end('SIGKILL');
    rmSync(aside, { recursive: true, force: true });
    await store.drop();
  }
}

/** Runs statements about the database of an address, from another database of its server. */
async function onServer(url: string, statements: (name: string) => readonly string[]): Promise<void> {
  const client = new pg.Client(Object.assign(new URL(url), { pathname: '/postgres' }).href);
  await client.connect();
  for (const statement of statements(new URL(url).pathname.slice(1))) await client.query(statement);
  await client.end();
}
