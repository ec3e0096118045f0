// The specification's chapter on the payment, a test for each row of its table, on both engines.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIVE_KEY, OTHER_KEY, sharedHarness, startHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/;

for (const engine of ENGINES) {
  describe(`specification, Resources and their fields, on ${engine}`, () => {
    const service = sharedHarness(engine);

    test('id: Payment identifier, prefix `pay_`.', async () => {
      assert.match((await service.create()).id, /^pay_[0-9a-z]{36}$/);
    });

    test('object: Always `payment`.', async () => {
      assert.equal((await service.create()).object, 'payment');
    });

    test('amount: Decimal amount with 2 decimal places, returned as a string although sent as a number.', async () => {
      for (const [sent, returned] of [
        ['49.9', '49.90'],
        ['7', '7.00'],
        ['0.01', '0.01'],
        ['1234567.89', '1234567.89'],
      ]) {
        const answer = await service.request('/v1/payments', { method: 'POST', body: `{"amount":${sent}}` });
        assert.equal(answer.json.data.amount, returned);
      }
    });

    test('currency: Currency code. Default `USD`.', async () => {
      assert.equal((await service.create()).currency, 'USD');
      assert.equal((await service.create({ currency: 'EUR' })).currency, 'EUR');
    });

    test('status: A new payment is `pending`.', async () => {
      assert.equal((await service.create()).status, 'pending');
    });

    test('merchant_name: Business name tied to the API key.', async () => {
      assert.equal((await service.create()).merchant_name, 'Development Shop');
      assert.equal((await service.create({}, { key: OTHER_KEY })).merchant_name, 'Other Shop');
      assert.equal(
        (await service.create({ merchant_name: 'Somebody Else' })).merchant_name,
        'Development Shop',
      );
    });

    test("merchant_reference: The merchant's own reference, echoed from the request.", async () => {
      const merchant_reference = 'ORDER 2026/11-Ω';
      assert.equal((await service.create({ merchant_reference })).merchant_reference, merchant_reference);
    });

    test('checkout_url: Hosted checkout link of the shape `{checkout_base_url}/payment.php?payment_id=<payment_id>`.', async () => {
      const { id, checkout_url } = await service.create();
      assert.equal(checkout_url, `${service.service.checkoutBaseUrl}/payment.php?payment_id=${id}`);
      const page = await fetch(checkout_url);
      assert.equal(page.status, 200);
      assert.match(await page.text(), new RegExp(id));
    });

    test('payment_url: Same value as checkout_url.', async () => {
      const payment = await service.create();
      assert.equal(payment.payment_url, payment.checkout_url);
    });

    test('created_at: ISO 8601 timestamp with numeric UTC offset.', async () => {
      const before = Math.floor(service.clock.now() / 1000) * 1000;
      const { created_at } = await service.create();
      assert.match(created_at, TIMESTAMP);
      assert.ok(Date.parse(created_at) >= before && Date.parse(created_at) <= service.clock.now());
    });

    test('expires_at: ISO 8601 timestamp with numeric UTC offset. Later than created_at.', async () => {
      const { created_at, expires_at } = await service.create();
      assert.match(expires_at, TIMESTAMP);
      assert.ok(Date.parse(expires_at) > Date.parse(created_at));
    });

    test('The create response wraps the payment in an object `{ "data": <payment> }`.', async () => {
      const answer = await service.request('/v1/payments', { method: 'POST', body: { amount: 1 } });
      assert.deepEqual(Object.keys(answer.json), ['data']);
    });

    test('Fields accepted on creation include description, return_url, cancel_url, customer and metadata.', async () => {
      const fields = {
        description: 'Two tickets',
        return_url: 'https://shop.example/thanks',
        cancel_url: 'https://shop.example/basket',
        customer: { name: 'Ada Lovelace', email: 'ada@example.org', phone: '+44 20 7946 0000' },
        metadata: { order: 17, tags: ['a', 'b'] },
      };
      const { id } = await service.create(fields);
      const { data } = (await service.request(`/v1/payments/${id}`)).json;
      for (const [name, value] of Object.entries(fields)) assert.deepEqual(data[name], value, name);
    });
  });
}

test('checkout_url begins with the configured checkout_base_url, its path included, whatever the Host header says.', async () => {
  await using service = await startHarness('sqlite', { environment: 'production' });
  const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
  const payment = await service.create({}, { key: LIVE_KEY, headers });
  assert.equal(payment.checkout_url, `https://pay.example/checkout/payment.php?payment_id=${payment.id}`);
});
