// What a node acknowledged outlives it: a start is refused on a store that lacks it, also where no checkpoint was signed since.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { knownSeal } from '../../src/journal/known-seal.ts';
import { run } from '../support/command.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { eventually } from '../support/waiting.ts';

const FILE = 'counterfoil.sqlite';

test('a stale copy is refused after a kill, and taken once that is recorded', async () => {
  const storage = mkdtempSync(join(tmpdir(), 'counterfoil-seal-'));
  const aside = mkdtempSync(join(tmpdir(), 'counterfoil-aside-'));
  const config = writeConfiguration({ storage, database_url: null } as never);
  const env = { COUNTERFOIL_CONFIG: config, COUNTERFOIL_STORAGE: storage };
  let server: ServerProcess | undefined;
  const create = async () => {
    const response = await fetch(`${server!.origin}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ amount: 10 }),
    });
    assert.equal(response.status, 201);
  };
  try {
    server = await startServerProcess({ config, port: 0, storage });
    await create();
    await server.end('SIGTERM');
    copyFileSync(join(storage, FILE), join(aside, FILE));
    const before = knownSeal(storage)!.number;

    server = await startServerProcess({ config, port: 0, storage });
    await create();
    await create();
    // The seal of the last one, within a second and without a stop in order.
    await eventually(() => knownSeal(storage)!.number >= before + 2);
    await server.end('SIGKILL');
    for (const name of readdirSync(storage)) if (name.startsWith(FILE)) rmSync(join(storage, name));
    copyFileSync(join(aside, FILE), join(storage, FILE));

    await assert.rejects(
      startServerProcess({ config, port: 0, storage }),
      /exited with 78: .*this node had acknowledged/,
    );
    const doctor = await run(['doctor'], { env });
    const [, , first] = doctor.stdout.split('\n');
    assert.match(first!, /failed +Vouched history/);
    const restored = await run(['audit', 'restored'], { env });
    assert.equal(restored.code, 0, restored.stderr);
    server = await startServerProcess({ config, port: 0, storage });
    await create();
    assert.equal((await run(['audit', 'verify'], { env })).code, 0);
  } finally {
    await server?.end('SIGKILL');
    for (const folder of [storage, aside]) rmSync(folder, { recursive: true, force: true });
  }
});
