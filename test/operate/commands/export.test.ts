// counterfoil export: payments in a file or on standard output, narrowed, beside a server that runs.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { run } from '../../support/command.ts';
import { readCsvRows } from '../../support/csv.ts';
import { OTHER_KEY, sharedHarness } from '../../support/harness.ts';

describe('counterfoil export', () => {
  const harness = sharedHarness('sqlite');
  before(async () => {
    for (const amount of [1, 2, 3]) await harness.create({ amount });
    const { id } = await harness.create({ amount: 4 }, { key: OTHER_KEY });
    await harness.request(`/v1/payments/${id}/cancel`, { method: 'POST', key: OTHER_KEY });
  });
  const command = (...args: string[]) => {
    const { storage, database_url } = harness.store;
    return run(['export', '--config', join(storage, 'counterfoil.yaml'), ...args], {
      env: { COUNTERFOIL_STORAGE: storage, ...(database_url && { DATABASE_URL: database_url }) },
    });
  };
  const amounts = async (...args: string[]) => {
    const { code, stdout, stderr } = await command(...args);
    const found = readCsvRows(stdout).map(({ amount }) => amount);
    const told = found.length > 0 ? '' : 'counterfoil: no payment fits these options\n';
    assert.deepEqual([code, stderr], [0, told]);
    return found;
  };

  test('It writes all payments, newest first, or those asked for.', async () => {
    assert.deepEqual(await amounts(), ['4.00', '3.00', '2.00', '1.00']);
    assert.deepEqual(await amounts('--merchant', 'mer_other'), ['4.00']);
    assert.deepEqual(await amounts('--status', 'pending'), ['3.00', '2.00', '1.00']);
    assert.deepEqual(await amounts('--mode', 'live'), []);
    assert.deepEqual(await amounts('--from', '2030-01-01'), []);
    assert.deepEqual(await amounts('--to', '2020-01-01T00:00:00Z'), []);
    assert.equal((await amounts('--from', '2020-01-01', '--to', '2099-12-31')).length, 4);
    const { stdout } = await command('--format', 'ndjson', '--status', 'cancelled');
    assert.equal(JSON.parse(stdout).amount, '4.00');
  });

  test('A file is whole, its owner alone may read it, and its writing is told.', async () => {
    const file = join(harness.store.storage, 'payments.csv');
    const told = await command('--output', file);
    assert.match(told.stdout, /^Exported 4 payments to .*payments\.csv\.\n$/);
    assert.equal(readCsvRows(readFileSync(file, 'utf8')).length, 4);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const { stdout } = await command('--output', file, '--format', 'ndjson', '--json');
    assert.deepEqual(JSON.parse(stdout), { file, format: 'ndjson', payments: 4 });
  });

  test('What cannot be meant is a usage error.', async () => {
    for (const args of [
      ['--status', 'paid'],
      ['--format', 'xlsx'],
      ['--from', '2026-02-31'],
      ['--to', 'now'],
      ['--from', '2026-03-02', '--to', '2026-03-01'],
    ])
      assert.equal((await command(...args)).code, 2, args.join(' '));
  });
});
