// A SQLite database that is removed, moved or replaced while it serves: refused at once, said once, and saved by one command.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { operatorOf, run } from '../../support/command.ts';
import { isWhole } from '../../support/extent.ts';
import { startHarness } from '../../support/harness.ts';
import { becomes } from '../../support/waiting.ts';

const FILE = 'counterfoil.sqlite';
/** More than the log takes before it is folded. */
const MANY = 60;

/** What may become of the files. */
const MISHAPS: Record<string, (storage: string, aside: string) => void> = {
  'the database is removed': (storage) => rmSync(join(storage, FILE)),
  'the database and its log are removed': (storage) => {
    for (const name of readdirSync(storage)) if (name.startsWith(FILE)) rmSync(join(storage, name));
  },
  'the database is moved': (storage, aside) => renameSync(join(storage, FILE), join(aside, 'moved.sqlite')),
  'an older copy is put in the place of the database': (storage, aside) => {
    // Another process copies: one that closes a file of its own SQLite loses the locks on it.
    execFileSync('cp', [join(storage, FILE), join(aside, 'copy')]);
    renameSync(join(aside, 'copy'), join(storage, FILE));
  },
  'an empty file is put in its place': (storage, aside) => {
    writeFileSync(join(aside, 'empty'), '');
    renameSync(join(aside, 'empty'), join(storage, FILE));
  },
  'the log is removed': (storage) => rmSync(join(storage, `${FILE}-wal`)),
};

/** In `npm test`, a mishap of each kind: a file that is gone, and another in its place. */
const KINDS = /^(the database is removed|an older copy)/;

describe('where, while it serves,', () => {
  for (const [mishap, happen] of Object.entries(MISHAPS).filter(([one]) => isWhole || KINDS.test(one)))
    test(mishap, async () => {
      await using harness = await startHarness('sqlite');
      const { storage } = harness.store;
      const env = operatorOf(harness.store);
      const aside = mkdtempSync(join(tmpdir(), 'counterfoil-aside-'));
      const body = { amount: 10, description: 'x'.repeat(200) };
      const create = () => harness.request('/v1/payments', { method: 'POST', body });
      const acknowledged: string[] = [];
      for (let i = 0; i < MANY; i++) acknowledged.push((await create()).json.data.id);
      happen(storage, aside);
      // The newest seal is written down each second, also for the first time.
      const names = () => readdirSync(storage).filter((name) => !name.startsWith('newest-seal.json'));
      const left = names();
      assert.equal((await create()).status, 503);
      const ready = await harness.request('/health/ready');
      assert.deepEqual([ready.status, ready.json.failing], [503, ['store_writable']]);
      assert.equal((await harness.request('/v1/payments')).status, 200);
      const said = () =>
        harness.logged.filter((line) => line.includes('the database was removed or replaced')).length;
      await becomes(1, said);
      const { findings } = JSON.parse((await run(['doctor', '--json'], { env })).stdout);
      assert.match(findings.find(({ id }: { id: string }) => id === 'database_file').fix, /store rescue/);
      assert.deepEqual(names(), left, 'nothing is made or taken away');

      const rescued = await run(['store', 'rescue', '--json', '--output', aside], { env });
      assert.equal(rescued.code, 0, rescued.stderr);
      const { rescued: file, payments } = JSON.parse(rescued.stdout);
      assert.equal(payments, acknowledged.length);
      await harness.stop();
      assert.equal(said(), 1);
      for (const name of readdirSync(storage)) if (name.startsWith(FILE)) rmSync(join(storage, name));
      renameSync(file, join(storage, FILE));
      await harness.start();
      const rows = await harness.service.database.query<{ id: string }>('select id from payments');
      const ids = new Set(rows.map(({ id }) => id));
      assert.deepEqual(
        acknowledged.filter((id) => !ids.has(id)),
        [],
      );
      await harness.verify();
      rmSync(aside, { recursive: true });
    });

  test('the database is moved and moved back, it takes changes again', async () => {
    await using harness = await startHarness('sqlite');
    const { storage } = harness.store;
    const ready = async () => (await harness.request('/health/ready')).status;
    const nothing = await run(['store', 'rescue'], { env: operatorOf(harness.store) });
    assert.deepEqual([nothing.code, /nothing to rescue/.test(nothing.stderr)], [1, true]);
    renameSync(join(storage, FILE), join(storage, 'aside'));
    await becomes(503, ready);
    renameSync(join(storage, 'aside'), join(storage, FILE));
    await becomes(200, ready);
    assert.ok(existsSync(join(storage, FILE)));
    await harness.stop();
    const none = await run(['store', 'rescue'], { env: operatorOf(harness.store) });
    assert.match(none.stderr, / open: .* account that serves/);
  });
});
