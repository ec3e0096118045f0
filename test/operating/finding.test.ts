// The runbook's entry on finding one payment or one request, walked with its own lines: in the log and in the history.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMAND, plainEnvironment, ROOT } from '../support/command.ts';
import { startHarness, writeConfiguration } from '../support/harness.ts';
import { eventually } from '../support/waiting.ts';
import { entry } from './runbook.ts';

const ENTRY = entry('Finding one payment or one request');

test('a payment and a request are found by the lines that stand there', async () => {
  await using harness = await startHarness('sqlite');
  const body = { amount: 49.9, merchant_reference: 'order-7' };
  const created = await harness.request('/v1/payments', { method: 'POST', body });
  await harness.create();
  const payment = created.json.data.id;
  const request = created.headers.get('x-request-id')!;
  const { storage } = harness.store;
  const config = writeConfiguration(harness.store);
  await eventually(() => harness.logged.some((one) => one.includes(request)));
  writeFileSync(join(storage, 'log'), harness.logged.join(''), { mode: 0o600 });

  const shell = (line: string) => {
    const here = line
      .replaceAll('\\|', '|')
      .replace(/(^|\| )counterfoil /, `$1${process.execPath} ${COMMAND} `)
      .replace('journalctl --unit counterfoil --output cat', `cat ${join(storage, 'log')}`)
      .replace(/pay_\w+/, payment)
      .replace(/req_\w+/, request);
    const environment = plainEnvironment({ COUNTERFOIL_CONFIG: config, COUNTERFOIL_STORAGE: storage });
    const { stdout, stderr } = spawnSync('sh', ['-c', here], {
      cwd: ROOT,
      env: environment,
      encoding: 'utf8',
    });
    assert.equal(stderr, '');
    return stdout.split('\n').filter((one) => one !== '');
  };
  const line = (beginning: RegExp) => {
    const found = [...ENTRY.matchAll(/`([^`]+)`/g)]
      .map(([, text]) => text!)
      .find((one) => beginning.test(one));
    assert.ok(found, `the entry has ${beginning}`);
    return found;
  };
  const story = shell(line(/^counterfoil payments show pay_/)).join('\n');
  assert.ok(story.includes(payment) && story.includes('created the payment'), story);
  const told = shell(line(/^journalctl .*req_/)).join('\n');
  for (const part of ['201', 'payment.created', payment]) assert.ok(told.includes(part), told);
  const read = await harness.request('/v1/payments?merchant_reference=order-7');
  assert.deepEqual(
    read.json.data.map(({ id }: { id: string }) => id),
    [payment],
  );
});
