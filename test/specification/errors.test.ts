// The specification's chapters on errors, limits and versioning, a test for each sentence, on both engines.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Answer, KEY, sharedHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';

for (const engine of ENGINES) {
  describe(`specification, Errors, Limits and Versioning, on ${engine}`, () => {
    const service = sharedHarness(engine);

    const post = (body: unknown) => service.request('/v1/payments', { method: 'POST', body });

    function assertError(answer: Answer, status: number, code: string): void {
      assert.equal(answer.status, status);
      assert.equal(answer.json.error.code, code);
      assert.equal(typeof answer.json.error.message, 'string');
    }

    test('400 invalid_json: The request body is not valid JSON.', async () => {
      for (const body of [
        '',
        '{',
        '{"amount":1',
        "{'amount':1}",
        '{"amount":01}',
        'amount=1',
        '{"amount":NaN}',
      ])
        assertError(await post(body), 400, 'invalid_json');
    });

    test('401 unauthorized: The API key is missing or invalid.', async () => {
      for (const key of [null, 'wrong', `${KEY}x`])
        assertError(await service.request('/v1/payments', { key }), 401, 'unauthorized');
    });

    test('404 not_found: The endpoint or the payment does not exist.', async () => {
      for (const path of ['/nothing', '/v1/nothing', '/v1/payments/pay_unknown', '/v2/payments'])
        assertError(await service.request(path), 404, 'not_found');
    });

    test("409 invalid_status: The action is not valid for the payment's current status.", async () => {
      const { id } = await service.create();
      await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
      assertError(
        await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' }),
        409,
        'invalid_status',
      );
    });

    test('422 validation_failed: A request field is invalid, for instance an amount that is not greater than zero.', async () => {
      assertError(await post({ amount: 0 }), 422, 'validation_failed');
    });

    test('error.details: Map of field name to message text. Present for validation errors, for instance keyed by `amount`.', async () => {
      const { details } = (await post({ amount: -1, currency: 'nope' })).json.error;
      assert.deepEqual(Object.keys(details).sort(), ['amount', 'currency']);
      for (const text of Object.values(details)) assert.equal(typeof text, 'string');
      assert.equal('details' in (await post('{')).json.error, false);
    });

    test('Payment lifetime: every payment carries an expires_at later than created_at.', async () => {
      await Promise.all(Array.from({ length: 5 }, (_, i) => service.create({ expires_in: 300 + i * 1000 })));
      for (const payment of (await service.request('/v1/payments')).json.data)
        assert.ok(Date.parse(payment.expires_at) > Date.parse(payment.created_at));
    });

    test('The API version is the path prefix `/v1`. `/health` is outside the version prefix.', async () => {
      assert.equal((await service.request('/v1/payments')).status, 200);
      assert.equal((await service.request('/payments')).status, 404);
      assert.equal((await service.request('/health')).status, 200);
      assert.equal((await service.request('/v1/health')).status, 404);
    });
  });
}
