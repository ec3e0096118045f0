// What a node acknowledged outlives it: a start is refused on a store that lacks it, also where no checkpoint was signed since.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { knownSeal } from '../../src/journal/known-seal.ts';
import { operatorOf, requireRefusal, run } from '../support/command.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';

const FILE = 'counterfoil.sqlite';

/** Another process copies: one that closes a file of its own SQLite loses the locks on it. */
const copy = (from: string, to: string) => execFileSync('cp', ['-r', from, to]);

/** Removes SQLite's files of a storage, as a lost disk does. */
function lose(storage: string): void {
  for (const name of readdirSync(storage)) if (name.startsWith(FILE)) rmSync(join(storage, name));
}

/** Stops a service, and leaves of its storage what a kill would have left before. */
async function kill(harness: Harness): Promise<void> {
  const { storage } = harness.store;
  copy(storage, `${storage}-killed`);
  await harness.stop();
  rmSync(storage, { recursive: true });
  renameSync(`${storage}-killed`, storage);
}

for (const engine of ENGINES)
  test(`on ${engine}, a stale copy is refused after a kill, and taken once that is recorded`, async () => {
    await using harness = await startHarness(engine);
    const { storage, database_url } = harness.store;
    const env = { ...operatorOf(harness.store), PORT: '0' };
    await harness.create();
    await harness.stop();
    const aside = `${storage}-aside`;
    if (database_url === null) copy(join(storage, FILE), aside);
    else await onServer(database_url, (name) => [`create database ${name}_aside template ${name}`]);
    const before = knownSeal(storage)!.number;

    await harness.start();
    await harness.create();
    await harness.create();
    // The seal of the last one, within a second and without a stop in order.
    await eventually(() => knownSeal(storage)!.number >= before + 2);
    await kill(harness);
    if (database_url === null) {
      lose(storage);
      renameSync(aside, join(storage, FILE));
    } else {
      // As a standby that was behind and is promoted in its place.
      await onServer(database_url, (name) => [
        `drop database ${name} with (force)`,
        `alter database ${name}_aside rename to ${name}`,
      ]);
    }

    requireRefusal(await run(['serve'], { env }), 78, /this node had acknowledged/);
    const { findings } = JSON.parse((await run(['doctor', '--json'], { env })).stdout);
    const failed = findings.filter(({ outcome }: { outcome: string }) => outcome === 'failed');
    assert.ok(failed.some(({ id }: { id: string }) => id === 'vouched_history'));
    const restored = await run(['audit', 'restored'], { env });
    assert.equal(restored.code, 0, restored.stderr);
    await harness.start();
    await harness.create();
    await harness.verify();
  });

test('a file that is lost right after the first create is not begun anew', async () => {
  await using harness = await startHarness('sqlite');
  const { storage } = harness.store;
  await harness.create();
  await kill(harness);
  lose(storage);
  requireRefusal(
    await run(['serve'], { env: { ...operatorOf(harness.store), PORT: '0' } }),
    78,
    /is missing, but .*vouches for its history/,
  );
});

/** Runs statements about the database of an address, from another database of its server. */
async function onServer(url: string, statements: (name: string) => readonly string[]): Promise<void> {
  const client = new pg.Client(Object.assign(new URL(url), { pathname: '/postgres' }).href);
  await client.connect();
  for (const statement of statements(new URL(url).pathname.slice(1))) await client.query(statement);
  await client.end();
}
