// The specification's chapter on endpoints, a test for each sentence, on both engines.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OTHER_KEY, sharedHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';

const UNKNOWN = `pay_${'0'.repeat(36)}`;

for (const engine of ENGINES) {
  describe(`specification, Endpoints, on ${engine}`, () => {
    const service = sharedHarness(engine);

    const post = (body: unknown) => service.request('/v1/payments', { method: 'POST', body });

    test('Response bodies are JSON.', async () => {
      const { id } = await service.create();
      const paths = ['/health', '/v1/payments', `/v1/payments/${id}`, '/v1/nothing', '/nothing'];
      for (const path of paths) {
        const answer = await service.request(path);
        assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', path);
        assert.equal(typeof answer.json, 'object', path);
      }
    });

    test('GET /health: Checks that the API is running. No API key required.', async () => {
      const answer = await service.request('/health', { key: null });
      assert.equal(answer.status, 200);
      assert.equal(answer.json.status, 'ok');
    });

    test('POST /v1/payments: amount is required.', async () => {
      for (const body of [{}, { amount: null }]) {
        const answer = await post(body);
        assert.equal(answer.status, 422);
        assert.ok(answer.json.error.details.amount);
      }
    });

    test('amount: Greater than zero, at most 2 decimal places.', async () => {
      for (const amount of ['0', '-1', '0.00', '-0.01', '1.001', '0.001', '10.999'])
        assert.equal((await post(`{"amount":${amount}}`)).status, 422, amount);
      for (const amount of ['0.01', '1', '1.1', '1.10', '10.99'])
        assert.equal((await post(`{"amount":${amount}}`)).status, 201, amount);
    });

    for (const [name, right, wrong] of [
      ['currency', 'USD', 840],
      ['merchant_reference', 'A-1', 1],
      ['description', 'Shoes', ['Shoes']],
      ['return_url', 'https://shop.example/back', 'shop'],
      ['cancel_url', 'https://shop.example/no', 'javascript:alert(1)'],
      ['customer', { name: 'A', email: 'a@example.org', phone: '1' }, 'Ada'],
      ['metadata', { order: 1 }, [1]],
    ] as [string, unknown, unknown][]) {
      test(`${name} is not required, and refused where it is of another type.`, async () => {
        assert.equal((await post({ amount: 1 })).status, 201);
        assert.equal((await post({ amount: 1, [name]: right })).status, 201);
        const answer = await post({ amount: 1, [name]: wrong });
        assert.equal(answer.status, 422);
        assert.deepEqual(Object.keys(answer.json.error.details), [name]);
      });
    }

    test('customer: Sub-fields `name`, `email`, `phone`.', async () => {
      const { customer } = await service.create({ customer: { name: 'Ada' } });
      assert.deepEqual(customer, { name: 'Ada', email: null, phone: null });
    });

    test('Response: the `{ "data": <payment> }` object with status `pending`.', async () => {
      const answer = await post({ amount: 1 });
      assert.equal(answer.status, 201);
      assert.equal(answer.json.data.status, 'pending');
    });

    test('GET /v1/payments/{payment_id}: Returns the details and current status of one payment.', async () => {
      const created = await service.create({ merchant_reference: 'one' });
      assert.deepEqual((await service.request(`/v1/payments/${created.id}`)).json, { data: created });
      await service.request(`/v1/payments/${created.id}/cancel`, { method: 'POST' });
      assert.equal((await service.request(`/v1/payments/${created.id}`)).json.data.status, 'cancelled');
    });

    test('GET /v1/payments/{payment_id}: Unknown payment: 404 `not_found`.', async () => {
      const answer = await service.request(`/v1/payments/${UNKNOWN}`);
      assert.equal(answer.status, 404);
      assert.equal(answer.json.error.code, 'not_found');
    });

    test('GET /v1/payments: Lists payments of the merchant that owns the API key.', async () => {
      const mine = await service.create({ merchant_reference: 'owner' });
      const theirs = await service.create({ merchant_reference: 'owner' }, { key: OTHER_KEY });
      const ids = async (key?: string) =>
        (await service.request('/v1/payments?merchant_reference=owner', key ? { key } : {})).json.data.map(
          (payment: { id: string }) => payment.id,
        );
      assert.deepEqual(await ids(), [mine.id]);
      assert.deepEqual(await ids(OTHER_KEY), [theirs.id]);
    });

    test('Query parameters, both optional: `limit`, `merchant_reference`.', async () => {
      for (let i = 0; i < 3; i++) await service.create({ merchant_reference: 'three & more' });
      const list = async (query: string) => (await service.request(`/v1/payments${query}`)).json.data;
      assert.ok((await list('')).length > 3);
      assert.equal((await list('?limit=2')).length, 2);
      assert.equal((await list('?merchant_reference=three%20%26%20more')).length, 3);
      assert.equal((await list('?merchant_reference=three+%26+more&limit=1')).length, 1);
    });

    test('POST /v1/payments/{payment_id}/cancel: Cancels a payment that is in status `pending`. No request body.', async () => {
      const { id } = await service.create();
      const answer = await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      assert.equal(answer.status, 200);
      assert.equal(answer.json.data.status, 'cancelled');
    });

    test('Cancel of a payment not in `pending`: 409 `invalid_status`.', async () => {
      const { id } = await service.create();
      await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      const answer = await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      assert.equal(answer.status, 409);
      assert.equal(answer.json.error.code, 'invalid_status');
    });

    test('Cancel of an unknown payment: 404 `not_found`.', async () => {
      const answer = await service.request(`/v1/payments/${UNKNOWN}/cancel`, { method: 'POST' });
      assert.equal(answer.status, 404);
      assert.equal(answer.json.error.code, 'not_found');
    });
  });
}
