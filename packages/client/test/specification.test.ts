// The specification once more, through the client and on a way that loses requests and answers: a test for each part that a client can meet.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { OTHER_KEY, sharedHarness } from '../../../test/support/harness.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { ENGINES } from '../../../test/support/stores.ts';
import type { Counterfoil, NewPayment, Payment } from '../src/index.ts';
import { FAULTS, FaultyWay } from './support/faulty-way.ts';

const UNKNOWN = `pay_${'0'.repeat(36)}`;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/;
const FAULT_CHANCE = 0.3;

for (const engine of ENGINES) {
  describe(`the specification through the client, on ${engine}`, () => {
    const service = sharedHarness(engine, { isVerified: true });
    const random = new SeededRandom();
    let way: FaultyWay;
    let client: Counterfoil;
    let other: Counterfoil;
    before(async () => {
      console.log(`client specification: seed ${random.seed} (COUNTERFOIL_SEED)`);
      way = await FaultyWay.to(service);
      way.choose = () => (random.chance(FAULT_CHANCE) ? random.pick(FAULTS) : 'none');
      client = way.client();
      other = way.client({ key: OTHER_KEY });
    });
    after(() => way.close());

    let references = 0;
    /** Creates a payment with a reference of its own, of which there is one then. */
    async function create(fields: Partial<NewPayment> = {}, by = client): Promise<Payment> {
      const merchant_reference = fields.merchant_reference ?? `reference-${++references}`;
      const payment = await by.payments.create({ amount: '49.90', merchant_reference, ...fields });
      const listed = await Array.fromAsync(by.payments.list({ merchant_reference }));
      assert.deepEqual(listed, [payment], 'there is one payment, and it is as it was answered');
      return payment;
    }

    test('Resources and their fields: the payment.', async () => {
      const fields = {
        description: 'Two tickets',
        return_url: 'https://shop.example/thanks',
        cancel_url: 'https://shop.example/basket',
        customer: { name: 'Ada Lovelace', email: 'ada@example.org', phone: '+44 20 7946 0000' },
        metadata: { order: 17, tags: ['a', 'b'] },
        merchant_reference: 'ORDER 2026/11-Ω & more',
      };
      const payment = await create({ ...fields, currency: 'EUR' });
      assert.match(payment.id, /^pay_[0-9a-z]{36}$/);
      assert.deepEqual(
        [payment.object, payment.amount, payment.currency, payment.status, payment.merchant_name],
        ['payment', '49.90', 'EUR', 'pending', 'Development Shop'],
      );
      const { checkoutBaseUrl } = service.service;
      assert.equal(payment.checkout_url, `${checkoutBaseUrl}/payment.php?payment_id=${payment.id}`);
      assert.equal(payment.payment_url, payment.checkout_url);
      for (const at of [payment.created_at, payment.expires_at]) assert.match(at, TIMESTAMP);
      assert.ok(Date.parse(payment.expires_at) > Date.parse(payment.created_at));
      const read = await client.payments.read(payment.id);
      for (const [name, value] of Object.entries(fields)) assert.deepEqual(read[name as 'id'], value, name);
      assert.equal((await create()).currency, 'USD');
    });

    test('amount: greater than zero, at most 2 decimal places, returned with 2.', async () => {
      for (const [sent, returned] of [
        ['49.9', '49.90'],
        ['7', '7.00'],
        ['0.01', '0.01'],
        ['1234567.89', '1234567.89'],
      ])
        assert.equal((await create({ amount: sent! })).amount, returned);
      const refused = { status: 422, code: 'validation_failed' };
      await assert.rejects(client.payments.create({ amount: '0.00' }), refused);
    });

    test('(none) → pending → cancelled, and 409 `invalid_status` from any other status, which stays.', async () => {
      const ways: Record<Payment['status'], (id: string) => Promise<unknown>> = {
        pending: (id) => client.payments.read(id),
        requires_review: (id) => client.testPayments.submit(id),
        approved: (id) => client.testPayments.submit(id).then(() => client.testPayments.approve(id)),
        rejected: (id) => client.testPayments.submit(id).then(() => client.testPayments.reject(id)),
        cancelled: (id) => client.payments.cancel(id),
      };
      for (const [status, move] of Object.entries(ways)) {
        const { id } = await create();
        await move(id);
        const payment = await client.payments.read(id);
        assert.equal(payment.status, status);
        if (status === 'pending') continue;
        await assert.rejects(client.payments.cancel(id), { status: 409, code: 'invalid_status' });
        assert.deepEqual(await client.payments.read(id), payment);
      }
    });

    test('GET /v1/payments: lists payments of the merchant that owns the key.', async () => {
      const [mine, theirs] = [await create(), await create({ merchant_reference: 'theirs' }, other)];
      assert.equal(theirs.merchant_name, 'Other Shop');
      assert.deepEqual(await Array.fromAsync(client.payments.list({ merchant_reference: 'theirs' })), []);
      await assert.rejects(client.payments.read(theirs.id), { code: 'not_found' });
      await assert.rejects(other.payments.cancel(mine.id), { code: 'not_found' });
      const { data, has_more } = await client.payments.page({ limit: 2 });
      assert.deepEqual([data.length, has_more, data[0]!.id], [2, true, mine.id]);
    });

    test('Errors: 401 `unauthorized`, 404 `not_found`, 422 `validation_failed` with details.', async () => {
      const stranger = way.client({ key: 'cfk_test_wrong' });
      await assert.rejects(stranger.payments.page(), { status: 401, code: 'unauthorized' });
      for (const call of ['read', 'cancel'] as const)
        await assert.rejects(client.payments[call](UNKNOWN), { status: 404, code: 'not_found' });
      const wrong = client.payments.create({ amount: '1', currency: 'nope', return_url: 'shop' });
      await assert.rejects(wrong, ({ status, code, details }) => {
        assert.deepEqual([status, code], [422, 'validation_failed']);
        assert.deepEqual(Object.keys(details).sort(), ['currency', 'return_url']);
        return true;
      });
    });

    test('The API accepts no card numbers and no CVV.', async () => {
      const card = '4242424242424242';
      for (const fields of [{ card_number: card }, { cvv: '123' }, { description: `Card ${card}` }])
        await assert.rejects(client.payments.create({ amount: '1', ...fields }), ({ code, message }) => {
          assert.equal(code, 'validation_failed');
          assert.doesNotMatch(message, /4242|123/);
          return true;
        });
    });

    test('what was lost on the way is in no payment and in no event twice.', async () => {
      const events = await Array.fromAsync(client.events.list());
      const payments = await Array.fromAsync(client.payments.list());
      assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
      const created = events.filter(({ type }) => type === 'payment.created');
      const ids = (all: string[]) => all.toSorted();
      assert.deepEqual(ids(created.map(({ data }) => data.payment_id)), ids(payments.map(({ id }) => id)));
      const lost = way.passed.filter(({ fault }) => fault !== 'none' && fault !== 'slow').length;
      assert.ok(lost > 0, `none of ${way.passed.length} requests suffered`);
    });
  });
}
