// Cancelling: pending alone, whatever comes with the request.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sharedHarness } from '../../support/harness.ts';

const HUGE_BYTES = 5 * 1024 * 1024;
const AT_ONCE = 20;

describe('cancelling a payment', () => {
  const service = sharedHarness('sqlite');

  test('the answer is the payment, cancelled by the merchant.', async () => {
    const created = await service.create({ merchant_reference: 'A-1' });
    service.clock.advance(2000);
    const { status, json } = await service.request(`/v1/payments/${created.id}/cancel`, { method: 'POST' });
    assert.equal(status, 200);
    const { updated_at, ...rest } = json.data;
    assert.ok(Date.parse(updated_at) > Date.parse(created.updated_at));
    const { updated_at: _, ...before } = created;
    const cancelled = { status: 'cancelled', status_reason: 'cancelled_by_merchant', amount_due: '0.00' };
    assert.deepEqual(rest, { ...before, ...cancelled });
    assert.deepEqual((await service.request(`/v1/payments/${created.id}`)).json, json);
  });

  for (const [what, type, body] of [
    ['nothing, announced as JSON', 'application/json', ''],
    ['JSON', 'application/json', '{"status":"approved"}'],
    ['broken JSON', 'application/json', '{'],
    ['text', 'text/plain', 'please'],
    ['a form', 'application/x-www-form-urlencoded', 'a=b'],
    ['a nameless type', '', 'x'],
    ['a malformed type', ';;/', 'x'],
    ['binary', 'application/octet-stream', '\0\xff'],
    ['5 MiB', 'application/json', 'x'.repeat(HUGE_BYTES)],
  ] as const) {
    test(`a body of any kind is ignored: ${what}.`, async () => {
      const { id } = await service.create();
      const answer = await service.request(`/v1/payments/${id}/cancel`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.json.data.status, 'cancelled');
    });
  }

  test('of many cancels at once one succeeds, the others are 409.', async () => {
    const { id } = await service.create();
    const cancel = () => service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, cancel));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal(
      answers.filter(({ status, json }) => status === 409 && json.error.code === 'invalid_status').length,
      AT_ONCE - 1,
    );
    await service.verify();
  });
});
