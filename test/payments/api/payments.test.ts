// Payments over real sockets, on both engines.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KEY, OTHER_KEY, sharedHarness } from '../../support/harness.ts';
import { ENGINES } from '../../support/stores.ts';

for (const engine of ENGINES) {
  describe(`payments on ${engine}`, () => {
    const service = sharedHarness(engine);

    test('a payment created is read, listed and cancelled once', async () => {
      const created = await service.create({ amount: 12.5, currency: 'eur', merchant_reference: 'A-1' });
      assert.equal(created.amount, '12.50');
      assert.equal(created.currency, 'EUR');
      const read = await service.request(`/v1/payments/${created.id}`);
      assert.deepEqual(read.json.data, created);
      const list = await service.request('/v1/payments?merchant_reference=A-1');
      assert.deepEqual(list.json, { data: [created], has_more: false, next_cursor: null });
      const cancel = await service.request(`/v1/payments/${created.id}/cancel`, { method: 'POST' });
      assert.equal(cancel.status, 200);
      assert.equal(cancel.json.data.status, 'cancelled');
      const again = await service.request(`/v1/payments/${created.id}/cancel`, { method: 'POST' });
      assert.equal(again.status, 409);
      assert.equal(again.json.error.code, 'invalid_status');
      assert.equal((await service.request(`/v1/payments/${created.id}`, { key: OTHER_KEY })).status, 404);
      await service.verify();
    });

    test('the same idempotency key gets the same answer', async () => {
      const headers = { 'idempotency-key': 'k1' };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          service.request('/v1/payments', { method: 'POST', body: { amount: 1 }, headers, key: KEY }),
        ),
      );
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null).length, 1);
      await service.verify();
    });
  });
}
