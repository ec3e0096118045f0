// Expiry: from its moment on nobody sees or moves the payment as pending, whether the sweeper has written so or not.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sentForReview } from '../../support/admin.ts';
import { sharedHarness } from '../../support/harness.ts';
import { heldUp } from '../../support/journal.ts';
import { editOutside } from '../../support/outside.ts';
import { cancelAsCustomer, paymentNow, submit, sweep } from '../../support/payments.ts';
import { ENGINES } from '../../support/stores.ts';
import { eventually } from '../../support/waiting.ts';

const LIFETIME_S = 300;
/** In which a sweeper fails twice more. */
const ROUNDS_MS = 2200;

for (const engine of ENGINES) {
  describe(`expiry on ${engine}`, () => {
    const service = sharedHarness(engine);

    /** Keeps the journal busy, so that the sweeper cannot write, while `work` runs. */
    async function beforeTheSweeper<T>(work: () => Promise<T>): Promise<T> {
      const { go } = await heldUp(service.service.journal);
      try {
        return await work();
      } finally {
        go();
      }
    }

    const create = (merchant_reference: string) =>
      service.create({ expires_in: LIFETIME_S, merchant_reference });
    const pass = () => service.clock.advance(LIFETIME_S * 1000 + 1);
    const writtenStatus = async (id: string) => (await paymentNow(service, id)).status;

    /** All that can be seen of a payment that has expired. */
    async function assertExpired(created: {
      id: string;
      expires_at: string;
      merchant_reference: string;
      checkout_url: string;
    }): Promise<string> {
      const read = await service.request(`/v1/payments/${created.id}`);
      const { status, status_reason, updated_at } = read.json.data;
      assert.deepEqual([status, status_reason, updated_at], ['cancelled', 'expired', created.expires_at]);
      const list = async (query: string) =>
        (await service.request(`/v1/payments?merchant_reference=${created.merchant_reference}${query}`)).json
          .data;
      assert.deepEqual(await list(''), [read.json.data]);
      assert.deepEqual(await list('&status=cancelled'), [read.json.data]);
      assert.deepEqual(await list('&status=pending'), []);
      const page = await fetch(created.checkout_url);
      assert.equal(page.status, 410);
      assert.match(await page.text(), /This payment link has expired/);
      return read.text;
    }

    test('reads, lists and checkout show the same before and after the sweeper wrote it.', async () => {
      const created = await create('seen');
      const before = await beforeTheSweeper(async () => {
        pass();
        const text = await assertExpired(created);
        assert.equal(await writtenStatus(created.id), 'pending');
        return text;
      });
      await sweep(service);
      assert.equal(await writtenStatus(created.id), 'cancelled');
      assert.equal(await assertExpired(created), before);
    });

    test('a cancel that comes after that moment is 409, though the sweeper has not been there.', async () => {
      const { id } = await create('late');
      const cancel = await beforeTheSweeper(async () => {
        pass();
        return {
          answer: service.request(`/v1/payments/${id}/cancel`, { method: 'POST' }),
          queued: await service.request('/openapi.json'),
        };
      });
      const { status, json } = await cancel.answer;
      assert.equal(status, 409);
      assert.equal(json.error.code, 'invalid_status');
      assert.equal((await service.request(`/v1/payments/${id}`)).json.data.status_reason, 'expired');
    });

    test('the guard stands in the statement: no move from pending passes after that moment.', async () => {
      for (const move of [submit, cancelAsCustomer]) {
        const { id } = await create(`guard ${move.name}`);
        let moved: Promise<unknown> | undefined;
        await beforeTheSweeper(async () => {
          pass();
          moved = move(service, id).catch((error) => error.code);
        });
        assert.equal(await moved, 'invalid_status');
      }
    });

    test('until its moment a payment is pending.', async () => {
      service.clock.stop();
      const { id } = await create('still');
      service.clock.advance((LIFETIME_S - 5) * 1000);
      await sweep(service);
      assert.equal((await service.request(`/v1/payments/${id}`)).json.data.status, 'pending');
      assert.equal(
        (await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' })).json.data.status_reason,
        'cancelled_by_merchant',
      );
    });

    test('what awaits review never expires.', async () => {
      const id = await sentForReview(service, { expires_in: LIFETIME_S });
      pass();
      await sweep(service);
      assert.equal((await service.request(`/v1/payments/${id}`)).json.data.status, 'requires_review');
    });

    test('what expired is in a history that verifies.', async () => {
      assert.ok((await service.verify()).payments! >= 6);
    });

    test('a sweeper that fails each second says so once, and that it works again', async () => {
      const lines = (text: string) => service.logged.filter((line) => line.includes(text)).length;
      const rename = (from: string, to: string) =>
        editOutside(service.store, `alter table ${from} rename to ${to}`);
      await rename('payments', 'payments_away');
      await eventually(() => lines('the sweeper will try again') > 0);
      await pause(ROUNDS_MS);
      await rename('payments_away', 'payments');
      await eventually(() => lines('the sweeper works again') > 0);
      assert.deepEqual([lines('the sweeper will try again'), lines('the sweeper works again')], [1, 1]);
    });
  });
}
