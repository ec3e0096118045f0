// counterfoil payments and requests: one payment with its story, and one request with all that is known of it, beside a server that runs.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { COMMAND, operatorOf, requireRefusal, run, start } from '../../support/command.ts';
import { sharedHarness } from '../../support/harness.ts';

describe('looking at one payment and one request', () => {
  const harness = sharedHarness('sqlite');
  let env: Record<string, string>;
  let id: string;
  let created: string;
  let cancelled: string;
  before(async () => {
    env = operatorOf(harness.store);
    const body = {
      amount: 12.5,
      currency: 'EUR',
      merchant_reference: 'A-1001',
      customer: { email: 'ada@example.org' },
    };
    const answer = await harness.request('/v1/payments', { method: 'POST', body });
    id = answer.json.data.id;
    created = answer.headers.get('x-request-id')!;
    const cancel = await harness.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
    cancelled = cancel.headers.get('x-request-id')!;
  });

  const command = (...args: string[]) => run(args, { env });

  test('payments show prints what it is and what happened, by its id, its reference or a request of it.', async () => {
    const texts = await Promise.all(
      [id, 'A-1001', cancelled].map(async (which) => {
        const { code, stdout, stderr } = await command('payments', 'show', which);
        assert.deepEqual([code, stderr], [0, ''], which);
        return stdout;
      }),
    );
    const [text] = texts as [string];
    assert.deepEqual(texts, [text, text, text]);
    assert.ok(
      text.startsWith(`${id}\nStatus     cancelled (cancelled_by_merchant)\nAmount     12.50 EUR\n`),
      text,
    );
    assert.match(text, /Merchant {3}Development Shop \(mer_development\), test/);
    const story = text.split('2 entries:\n')[1]!.trimEnd().split('\n');
    assert.match(story[0]!, /^\d+ \w+ \d{4}, \d\d:\d\d UTC {2}Development Shop created the payment with the/);
    assert.ok(story[0]!.endsWith(created) && story[1]!.endsWith(cancelled), text);
    assert.match(story[1]!, /Development Shop cancelled/);
    assert.doesNotMatch(text, /ada@example/, 'personal data is for --json, as in /admin');
  });

  test('payments show --json has what GET /admin/payments/{id} has, of each payment with a reference, newest first.', async () => {
    const { id: other } = await harness.create({ merchant_reference: 'A-1001' });
    const { code, stdout } = await command('payments', 'show', 'A-1001', '--json');
    assert.equal(code, 0);
    const { payments, has_more } = JSON.parse(stdout);
    assert.deepEqual([payments.map((one: { id: string }) => one.id), has_more], [[other, id], false]);
    const [, first] = payments;
    assert.equal(first.customer.email, 'ada@example.org');
    assert.deepEqual(
      first.timeline.map((one: { action: string }) => one.action),
      ['payment.created', 'payment.cancelled'],
    );
    for (let i = 0; i < 9; i++) await harness.create({ merchant_reference: 'A-1001' });
    const many = await command('payments', 'show', 'A-1001');
    assert.equal(many.stdout.match(/^pay_/gm)?.length, 10);
    assert.match(many.stderr, /There are more/);
  });

  test('requests says what a request changed, and with the log what came of it.', async () => {
    const { code, stdout } = await command('requests', created);
    assert.equal(code, 0);
    assert.match(
      stdout,
      new RegExp(
        `^entry \\d+ +\\d+ \\w+ \\d{4}, \\d\\d:\\d\\d UTC +merchant:mer_development +payment\\.created +${id}$`,
        'm',
      ),
    );
    const refused = await harness.request('/v1/payments', { method: 'POST', body: { amount: 0 } });
    const requestId = refused.headers.get('x-request-id')!;
    requireRefusal(await command('requests', requestId), 1, /left no entry in the history: it changed/);
    const file = join(harness.store.storage, 'server.log');
    // As journald writes it with `--output short`, and with a line that was cut off.
    const lines = harness.logged.map((line) => `Nov 23 03:00:00 host counterfoil[1]: ${line}`);
    writeFileSync(file, `${lines.join('')}{"request_id":"${requestId}"\n`, { mode: 0o600 });
    const found = await command('requests', requestId, '--log', file);
    assert.equal(found.code, 0, found.stderr);
    assert.match(found.stdout, /^\d+ \w+ \d{4}, \d\d:\d\d UTC {2}request\n/);
    assert.match(found.stdout, /\n {2}status +422\n/);
    assert.match(found.stdout, /\n {2}code +validation_failed\n {2}fields +\["amount"\]/);
    assert.match(found.stdout, /left no entry/);
    const json = JSON.parse((await command('requests', created, '--log', file, '--json')).stdout);
    assert.equal(json.request_id, created);
    assert.deepEqual([json.log.length, json.log[0].status, json.log[0].route], [1, 201, '/v1/payments']);
    assert.deepEqual([json.entries[0].action, json.entries[0].subject], ['payment.created', id]);
    const piped = start(process.execPath, [COMMAND, 'requests', created, '--log', '-'], { env });
    piped.child.stdin!.end(harness.logged.join(''));
    assert.equal((await piped.ended).code, 0, piped.stderr);
    assert.match(piped.stdout, /\n {2}status +201\n/);
  });
});
