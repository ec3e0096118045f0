// The shop of examples/shop, run as it stands with the client as npm has it: bought, paid at checkout, approved by a person, shipped.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Counterfoil } from '../../packages/client/src/index.ts';
import { addPerson, post } from '../support/admin.ts';
import { ROOT, type Running, start } from '../support/command.ts';
import { load, send, TYPED } from '../support/customer.ts';
import { freePort } from '../support/free-ports.ts';
import { type Harness, KEY, startHarness } from '../support/harness.ts';

describe('the shop of examples/shop', () => {
  let harness: Harness;
  let folder: string;
  let shop: Running;
  let origin: string;

  before(async () => {
    harness = await startHarness('sqlite');
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-example-'));
    cpSync(join(ROOT, 'examples/shop/shop.js'), join(folder, 'shop.mjs'));
    const client = join(folder, 'node_modules/@counterfoil/client');
    mkdirSync(client, { recursive: true });
    cpSync(join(ROOT, 'packages/client/package.json'), join(client, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules/fastify'), join(folder, 'node_modules/fastify'));
    const build = ['-p', join(ROOT, 'packages/client/tsconfig.build.json'), '--outDir', join(client, 'dist')];
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), build);
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    const endpoints = new Counterfoil({ key: KEY, baseUrl: harness.origin }).webhookEndpoints;
    const { secret } = await endpoints.create({ url: `http://localhost:${port}/webhooks` });
    const env = { COUNTERFOIL_URL: harness.origin, SHOP_URL: origin, WEBHOOK_SECRET: secret! };
    shop = start(process.execPath, ['shop.mjs'], { cwd: folder, env });
    await shop.until(/^The shop is at /m);
  });
  after(async () => {
    shop?.child.kill();
    await shop?.ended;
    rmSync(folder, { recursive: true, force: true });
    await harness.close();
  });

  const textOf = async (address: string) => (await fetch(address)).text();

  test('ships only what was approved, whatever the customer opens before.', async () => {
    const bought = await fetch(`${origin}/buy`, { method: 'POST', redirect: 'manual' });
    assert.equal(bought.status, 303);
    const checkout = await load(new URL(bought.headers.get('location')!));
    assert.match(checkout.body, /€49\.90/);
    const [payment] = (await harness.request('/v1/payments')).json.data;
    assert.equal(payment.amount, '49.90');
    assert.equal(await textOf(payment.return_url), 'Please pay for your order.\n');

    const sent = await send(checkout, TYPED.details);
    assert.equal(sent.status, 200);
    assert.equal(
      await textOf(payment.return_url),
      'Your payment is being checked. You need not do anything.\n',
    );

    const ana = await addPerson(harness, 'administrator');
    assert.equal((await post(harness, ana, `/admin/payments/${payment.id}/approve`, {})).status, 200);
    await shop.until(new RegExp(`^Ship order ${payment.merchant_reference}$`, 'm')); // told by the webhook
    assert.equal(await textOf(payment.return_url), 'Your payment was accepted.\n');
    assert.equal(shop.stdout.split('Ship order').length, 2, 'it ships once');
  });

  test('believes no webhook that is not signed.', async () => {
    for (const headers of [{}, { 'webhook-id': '1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,' }]) {
      const sent = {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      };
      assert.equal((await fetch(`${origin}/webhooks`, sent)).status, 400);
    }
  });

  test('tells its customer when the payment cannot be created, and goes on.', async () => {
    await harness.stop();
    const refused = await fetch(`${origin}/buy`, { method: 'POST', redirect: 'manual' });
    assert.equal(refused.status, 502);
    await harness.start();
    assert.equal((await fetch(origin)).status, 200);
  });

  test('is a payment whose every field the documentation tells of.', async () => {
    const page = readFileSync(join(ROOT, 'docs/integrate/payments.md'), 'utf8');
    const named = /\| Field \|.*?\n\n/s.exec(page)![0];
    const { PaymentRequest } = (await harness.request('/openapi.json')).json.components.schemas;
    for (const field of Object.keys(PaymentRequest.properties))
      assert.ok(named.includes(`\`${field}\``), field);
  });

  test('begins as README.md shows: with what is sent there, and what is answered.', async () => {
    const page = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const body = JSON.parse(/ -d '(\{.*?\})'/.exec(page)![1]!);
    const shown = JSON.parse(/```json\n(.*?)```/s.exec(page)![1]!).data;
    const { status, json } = await harness.request('/v1/payments', { method: 'POST', body });
    assert.equal(status, 201);
    // What differs at each time, in the shape in which it is shown.
    const shape = (value: unknown) =>
      String(value)
        .replace(/[a-z0-9]{36}|\d/g, '0')
        .replace(/:\d+\/pay/, ':0/pay');
    const shapes = (payment: object) =>
      Object.entries(payment).map(([name, value]) => `${name}: ${shape(value)}`);
    assert.deepEqual(shapes(shown), shapes(json.data));
    assert.equal(Date.parse(shown.expires_at) - Date.parse(shown.created_at), 7 * 86_400_000);
  });
});
