// The specification's first chapter, what the service does, a test for each sentence, on both engines.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { entriesOf } from '../../src/journal/queries.ts';
import { ConfigurationError, readConfiguration } from '../../src/operate/config.ts';
import { LIVE_KEY, OTHER_KEY, sharedHarness, writeConfiguration } from '../support/harness.ts';
import { ENGINES, temporaryStore } from '../support/stores.ts';

const COMMAND = fileURLToPath(new URL('../../bin/counterfoil.js', import.meta.url));
const CARD_NUMBER = '4242424242424242';

for (const engine of ENGINES) {
  describe(`specification, What the service does, on ${engine}`, () => {
    const service = sharedHarness(engine);

    test('A merchant creates a payment request through a JSON HTTP API. The service returns a link to a hosted checkout page.', async () => {
      const { checkout_url } = await service.create({ description: 'A blue jug' });
      const page = await fetch(checkout_url);
      assert.equal(page.status, 200);
      assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(await page.text(), /A blue jug/);
    });

    test('The merchant reads the status of the payment, lists its payments, or cancels a payment that is still pending.', async () => {
      const { id } = await service.create();
      assert.equal((await service.request(`/v1/payments/${id}`)).json.data.status, 'pending');
      assert.equal((await service.request('/v1/payments?limit=1')).json.data[0].id, id);
      const cancelled = await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      assert.equal(cancelled.json.data.status, 'cancelled');
    });

    for (const [what, fields] of [
      ['a card_number field', { card_number: CARD_NUMBER }],
      ['a cvv field', { cvv: '123' }],
      ['a card object', { card: { number: CARD_NUMBER } }],
      ['a nested card field', { customer: { cvc: '123' } }],
      ['a card number in the description', { description: `Card ${CARD_NUMBER}` }],
      ['a card number in metadata', { metadata: { note: '4242 4242 4242 4242' } }],
      ["a card number in the customer's name", { customer: { name: `Ada ${CARD_NUMBER}` } }],
    ] as [string, object][]) {
      test(`The API accepts no card numbers and no CVV: ${what} is refused and not repeated.`, async () => {
        const answer = await service.request('/v1/payments', {
          method: 'POST',
          body: { amount: 1, ...fields },
        });
        assert.equal(answer.status, 422);
        assert.equal(answer.json.error.code, 'validation_failed');
        assert.doesNotMatch(answer.text, /4242|123/);
      });
    }

    test('Payments created with a key carry the merchant business name, and checkout shows it automatically.', async () => {
      const payment = await service.create({}, { key: OTHER_KEY });
      assert.equal(payment.merchant_name, 'Other Shop');
      assert.match(
        await (await fetch(payment.checkout_url)).text(),
        /<h1\b[^>]*>Pay <bdi>Other Shop<\/bdi><\/h1>/,
      );
    });

    test('The service keeps payment state and an audit log.', async () => {
      const { id } = await service.create();
      await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      const entries = await entriesOf(service.service.database, id);
      assert.deepEqual(
        entries.map(({ actor, action }) => [actor, action]),
        [
          ['merchant:mer_development', 'payment.created'],
          ['merchant:mer_development', 'payment.cancelled'],
        ],
      );
      await service.stop();
      await service.start();
      assert.equal((await service.request(`/v1/payments/${id}`)).json.data.status, 'cancelled');
      await service.verify();
    });

    test('The service keeps them in a private storage area.', () => {
      const { storage } = service.store;
      assert.equal(statSync(storage).mode & 0o777, 0o700);
      for (const file of readdirSync(storage))
        assert.equal(statSync(join(storage, file)).mode & 0o077, 0, file);
    });

    test('That area must not be served publicly.', async () => {
      const names = [...readdirSync(service.store.storage), 'counterfoil.sqlite'];
      const folders = [
        '',
        'storage/',
        'assets/',
        'assets/../',
        'assets/..%2f',
        '%2e%2e/',
        '..%5c',
        'v1/../storage/',
      ];
      for (const name of names) {
        for (const folder of folders) {
          const answer = await service.request(`/${folder}${name}`);
          assert.ok([400, 404].includes(answer.status), `${folder}${name}: ${answer.status}`);
        }
        const absolute = await service.request(encodeURI(join(service.store.storage, name)));
        assert.equal(absolute.status, 404);
      }
    });
  });
}

describe('specification, production use', () => {
  test('Production use requires HTTPS.', async () => {
    const store = await temporaryStore('sqlite');
    try {
      const file = writeConfiguration(store, 'production');
      const right = readFileSync(file, 'utf8');
      readConfiguration(file, {});
      for (const name of ['base_url', 'checkout_base_url']) {
        writeFileSync(file, right.replace(`\n${name}: https:`, `\n${name}: http:`));
        assert.throws(() => readConfiguration(file, {}), ConfigurationError, name);
      }
    } finally {
      await store.drop();
    }
  });

  test('Production keys are created in that configuration file, and keys should be rotated when needed.', async () => {
    const store = await temporaryStore('sqlite');
    try {
      const file = writeConfiguration(store, 'production');
      const create = ['keys', 'create', '--merchant', 'mer_production', '--live', '--json', '--config', file];
      const { key } = JSON.parse(execFileSync(process.execPath, [COMMAND, ...create], { encoding: 'utf8' }));
      const [production] = readConfiguration(file, {}).merchants;
      const digests = production!.keys.filter(({ mode }) => mode === 'live').map(({ digest }) => digest);
      const digestOf = (one: string) => createHash('sha256').update(one).digest('hex');
      assert.deepEqual(digests.sort(), [key, LIVE_KEY].map(digestOf).sort());
    } finally {
      await store.drop();
    }
  });
});
