// The specification's chapter on states and transitions, a test for each sentence, on both engines.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sharedHarness } from '../support/harness.ts';
import { tryOut } from '../support/payments.ts';
import { ENGINES } from '../support/stores.ts';

const WAY: Record<string, Parameters<typeof tryOut>[2][]> = {
  requires_review: ['submit'],
  approved: ['submit', 'approve'],
  rejected: ['submit', 'reject'],
  cancelled: ['expire'],
};

for (const engine of ENGINES) {
  describe(`specification, States and transitions, on ${engine}`, () => {
    const service = sharedHarness(engine);

    async function paymentIn(status: string): Promise<string> {
      const { id } = await service.create();
      await tryOut(service, id, ...WAY[status]!);
      return id;
    }

    test('Statuses: pending, requires_review, approved, rejected, cancelled.', async () => {
      const { details } = (await service.request('/v1/payments?status=paid')).json.error;
      assert.match(details.status, /\bpending, requires_review, approved, rejected, cancelled\.$/);
      for (const status of Object.keys(WAY)) {
        const { data } = (await service.request(`/v1/payments/${await paymentIn(status)}`)).json;
        assert.equal(data.status, status);
      }
    });

    test('(none) → pending: POST /v1/payments, request valid: payment created, checkout_url returned.', async () => {
      const payment = await service.create();
      assert.equal(payment.status, 'pending');
      assert.ok(URL.canParse(payment.checkout_url));
      assert.deepEqual((await service.request(`/v1/payments/${payment.id}`)).json.data, payment);
    });

    test('pending → cancelled: POST /v1/payments/{payment_id}/cancel, payment belongs to the merchant and is pending.', async () => {
      const { id } = await service.create();
      assert.equal((await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' })).status, 200);
      assert.equal((await service.request(`/v1/payments/${id}`)).json.data.status, 'cancelled');
    });

    for (const status of Object.keys(WAY)) {
      test(`any status other than pending: cancel of a payment that is ${status} gives 409 \`invalid_status\` and leaves it unchanged.`, async () => {
        const id = await paymentIn(status);
        const before = await service.request(`/v1/payments/${id}`);
        const answer = await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
        assert.equal(answer.status, 409);
        assert.equal(answer.json.error.code, 'invalid_status');
        assert.equal((await service.request(`/v1/payments/${id}`)).text, before.text);
      });
    }

    test('what happened is in a history that verifies.', async () => {
      assert.ok((await service.verify()).payments! >= 10);
    });
  });
}
