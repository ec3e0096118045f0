// counterfoil webhooks, and webhooks in counterfoil secrets: beside a server that runs, as an operator types it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { operatorOf, requireRefusal, run } from '../../support/command.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { answering, WebhookReceiver } from '../../support/webhook-receiver.ts';

const LONG = { expires_in: 5_000_000 };

describe('counterfoil webhooks', () => {
  let service: Harness;
  let receiver: WebhookReceiver;
  let env: Record<string, string>;
  before(async () => {
    service = await startHarness('sqlite');
    receiver = await WebhookReceiver.start();
    env = operatorOf(service.store);
  });
  after(async () => {
    try {
      await service.verify(); // throws where a test failed while the server was stopped
    } finally {
      await service.close();
      await receiver.close();
    }
  });

  async function command(...args: string[]) {
    const done = await run(args, { env });
    service.service.database.refresh(); // its reads may share a view from before the command
    return done;
  }
  async function create(path: string) {
    const options = { method: 'POST', body: { url: receiver.url(path) } };
    return (await service.request('/v1/webhook_endpoints', options)).json.data;
  }
  const patch = (id: string, body: object) =>
    service.request(`/v1/webhook_endpoints/${id}`, { method: 'PATCH', body });

  test('an operator lists, tests, disables, enables and sends again.', async () => {
    assert.match((await command('webhooks', 'list')).stdout, /There are no webhook endpoints/);
    await service.create(LONG);
    const { id, secret } = await create('/till');
    const listed = await command('webhooks', 'list');
    assert.match(listed.stdout, new RegExp(`${id} .*mer_development.*test.*/till.*enabled`));
    const json = (await command('webhooks', 'list', '--json')).stdout;
    assert.equal(JSON.parse(json).endpoints[0].merchant_id, 'mer_development');
    assert.ok(!json.includes('whsec_'));

    assert.equal((await command('webhooks', 'test', id)).code, 0);
    assert.ok(WebhookReceiver.isSigned(receiver.received.at(-1)!, [secret]));
    receiver.reply = answering(503);
    const failed = await command('webhooks', 'test', id);
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, /503/);
    receiver.reply = answering(200);

    for (const [name, ...more] of [
      ['test'],
      ['resend', '--since', '1d'],
      ['disable', '--reason', 'x'],
      ['enable'],
    ] as const) {
      const unknown = await command('webhooks', name, ...more, 'whe_none');
      const line =
        'counterfoil: there is no webhook endpoint whe_none; counterfoil webhooks list shows all\n';
      assert.deepEqual([unknown.code, unknown.stderr], [1, line], name);
    }

    const numbered = await command('webhooks', 'disable', id, '--reason', 'card 4111 1111 1111 1111');
    requireRefusal(numbered, 1, /--reason: .*card number/);
    const off = await command('webhooks', 'disable', id, '--reason', 'It answers with our checkout');
    assert.equal(off.stdout, `${id} is disabled.\n`);
    const own = (await service.request(`/v1/webhook_endpoints/${id}`)).json.data;
    assert.deepEqual([own.disabled_reason, own.disabled_note], ['operator', 'It answers with our checkout']);
    const refused = await patch(id, { status: 'enabled' });
    assert.equal(refused.json.error.code, 'invalid_status', 'its merchant may not');
    assert.equal((await command('webhooks', 'resend', id, '--since', '7d')).code, 1);
    assert.equal((await command('webhooks', 'enable', id)).stdout, `${id} is enabled.\n`);
    const before = receiver.received.length;
    const again = await command('webhooks', 'resend', id, '--what', 'missing', '--since', '7d');
    assert.equal(again.code, 0, again.stderr);
    await receiver.have(before + 1, '/till');
    assert.equal((await command('webhooks', 'test', `whe_${'0'.repeat(36)}`)).code, 1);
    await service.request(`/v1/webhook_endpoints/${id}`, { method: 'DELETE' });
  });

  test('secrets of endpoints move to a new key while the server runs, and sign on.', async () => {
    const { id, secret } = await create('/sealed');
    await service.request(`/v1/webhook_endpoints/${id}/rotate_secret`, { method: 'POST' });
    const rotated = JSON.parse((await command('secrets', 'rotate', '--json')).stdout);
    assert.equal(rotated.sealed, 1);
    const { keys } = JSON.parse((await command('secrets', 'list', '--json')).stdout);
    const counts = keys.map((key: { sealed_secrets: number }) => key.sealed_secrets);
    assert.deepEqual(counts, [0, 2]);
    assert.equal((await command('secrets', 'remove', rotated.before)).code, 0);
    await delay(1200); // every node hears of it within a second
    await service.create(LONG);
    const [came] = await receiver.have(1, '/sealed');
    assert.ok(WebhookReceiver.isSigned(came!, [secret]), 'the secret before signs along');
    await service.request(`/v1/webhook_endpoints/${id}`, { method: 'DELETE' });
  });
});
