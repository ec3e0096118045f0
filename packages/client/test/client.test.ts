// The client against the whole service: what it calls, what it refuses, what it sends again, and what it throws.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sharedHarness } from '../../../test/support/harness.ts';
import { ApiError, ConnectionError, Counterfoil, CounterfoilError, fromMinorUnits } from '../src/index.ts';
import { FAULTS, FaultyWay } from './support/faulty-way.ts';

const EUR = { amount: '49.90', currency: 'EUR' };

describe('the client', () => {
  const service = sharedHarness('sqlite');
  let way: FaultyWay;
  let client: Counterfoil;
  before(async () => {
    way = await FaultyWay.to({
      get origin() {
        return service.origin;
      },
    });
    client = way.client();
  });
  after(() => way.close());

  /** The payments of a reference, as the service has them. */
  const stored = async (reference: string) =>
    (await service.request(`/v1/payments?merchant_reference=${reference}`)).json.data as { id: string }[];

  test('creates, reads, lists and cancels payments.', async () => {
    const created = await client.payments.create({
      ...EUR,
      merchant_reference: 'first',
      metadata: { a: [1] },
    });
    assert.deepEqual([created.amount, created.status, created.metadata], ['49.90', 'pending', { a: [1] }]);
    assert.deepEqual(await client.payments.read(created.id), created);
    const listed = await Array.fromAsync(client.payments.list({ merchant_reference: 'first' }));
    assert.deepEqual(listed, [created]);
    const cancelled = await client.payments.cancel(created.id);
    assert.deepEqual([cancelled.status, cancelled.status_reason], ['cancelled', 'cancelled_by_merchant']);
    const changed = await Array.fromAsync(client.payments.list({ updated_after: created.created_at }));
    assert.ok(changed.some(({ id, status }) => id === created.id && status === 'cancelled'));
    assert.equal((await client.payments.page({ limit: 1 })).data.length, 1);
  });

  test('sends an amount digit by digit, and throws for a number and for what is none.', async () => {
    for (const amount of ['0.01', '7', '7.5', '999999999999.99']) {
      const [whole, fraction = ''] = amount.split('.');
      const created = await client.payments.create({ amount });
      assert.equal(created.amount, `${whole}.${fraction.padEnd(2, '0')}`);
    }
    way.suffer();
    for (const amount of [
      49.9,
      4990,
      49n,
      undefined,
      null,
      '',
      '49,90',
      '049',
      '1.999',
      '1e3',
      '-1',
      ' 1',
      '1}',
    ])
      await assert.rejects(client.payments.create({ amount: amount as string }), TypeError, String(amount));
    assert.deepEqual(way.passed, []);
    for (const [minor, currency, amount] of [
      [4990, 'EUR', '49.90'],
      [5n, 'usd', '0.05'],
      [4990, 'JPY', '4990'],
      [12_340, 'KWD', '12.34'],
    ] as const)
      assert.equal(fromMinorUnits(minor, currency), amount);
    for (const [minor, currency] of [
      [49.9, 'EUR'],
      [2 ** 53, 'EUR'],
      [12_345, 'KWD'],
      [-1, 'EUR'],
      [1, '€'],
    ] as const)
      assert.throws(() => fromMinorUnits(minor, currency), TypeError, `${minor} ${currency}`);
  });

  test('throws an ApiError with status, code, details and request id.', async () => {
    const refused = client.payments.create({ amount: '0', currency: 'nope' });
    await assert.rejects(refused, (error: unknown) => {
      assert.ok(error instanceof ApiError && error instanceof CounterfoilError);
      assert.deepEqual([error.status, error.code], [422, 'validation_failed']);
      assert.deepEqual(Object.keys(error.details).sort(), ['amount', 'currency']);
      assert.match(error.message, /currency: Must be/);
      assert.ok(error.requestId && error.idempotencyKey);
      return true;
    });
    await assert.rejects(client.payments.read(`pay_${'0'.repeat(36)}`), { code: 'not_found', status: 404 });
    const stranger = way.client({ key: 'cfk_test_unknown' });
    await assert.rejects(stranger.payments.read(`pay_${'0'.repeat(36)}`), { code: 'unauthorized' });
    for (const id of ['', '..', 'a/b', undefined])
      await assert.rejects(client.payments.read(id as string), TypeError, String(id));
  });

  for (const fault of FAULTS)
    test(`after ${fault} the request comes again with its key, and there is one payment.`, async () => {
      const merchant_reference = fault.replaceAll(' ', '-');
      way.suffer(fault, fault === 'slow' ? 'none' : fault);
      const { id } = await client.payments.create({ ...EUR, merchant_reference });
      assert.equal(way.passed.length, fault === 'slow' ? 1 : 3);
      assert.equal(new Set(way.passed.map(({ headers }) => headers['idempotency-key'])).size, 1);
      assert.deepEqual(
        (await stored(merchant_reference)).map((one) => one.id),
        [id],
      );
      way.suffer(fault);
      assert.equal((await client.payments.cancel(id)).status, 'cancelled');
      way.suffer(fault);
      await assert.rejects(client.payments.cancel(id), { status: 409, code: 'invalid_status' });
    });

  test('a key of yours gives the same payment again, and another payment with it is refused.', async () => {
    const once = { idempotencyKey: 'order-1-1' };
    const [first, second] = await Promise.all([1, 2].map(() => client.payments.create(EUR, once)));
    assert.equal(first!.id, second!.id);
    const other = client.payments.create({ ...EUR, amount: '1' }, once);
    await assert.rejects(other, { code: 'idempotency_key_reused', idempotencyKey: 'order-1-1' });
    await assert.rejects(client.payments.create(EUR, { idempotencyKey: 'Bestellung Ü' }), TypeError);
  });

  test('waits as long as Retry-After asks for, and not at all where that is beyond the deadline.', async () => {
    for (const fault of ['429', '503 before'] as const) {
      way.retryAfter = '1';
      way.suffer(fault);
      await client.payments.create(EUR);
      const [first, second] = way.passed;
      assert.ok(second!.at - first!.at >= 1000, `${second!.at - first!.at} ms`);
      way.retryAfter = '3600';
      way.suffer(fault);
      await assert.rejects(client.payments.create(EUR), { name: 'ApiError', retryAfterS: 3600 });
      assert.equal(way.passed.length, 1);
    }
    way.retryAfter = undefined;
  });

  test('gives up at the deadline with a ConnectionError, whose key tells later what became of it.', async (context) => {
    const deaf = await FaultyWay.to(service);
    context.after(() => deaf.close());
    deaf.choose = () => 'cut after';
    const { payments } = deaf.client({ timeoutMs: 300 });
    const gone = await payments.create({ ...EUR, merchant_reference: 'gone' }).catch((error) => error);
    assert.ok(gone instanceof ConnectionError && gone.idempotencyKey);
    const { id } = await client.payments.create(
      { ...EUR, merchant_reference: 'gone' },
      { idempotencyKey: gone.idempotencyKey! },
    );
    assert.deepEqual(
      (await stored('gone')).map((one) => one.id),
      [id],
    );
  });

  test('a signal ends a call and its pauses with its reason.', async (context) => {
    // A way of its own: what is left of an ended call may come to it later.
    const own = await FaultyWay.to(service);
    context.after(() => own.close());
    own.choose = () => 'cut before';
    const { payments } = own.client();
    const why = new Error('the customer left');
    const leaving = new AbortController();
    const call = payments.create(EUR, { signal: leaving.signal });
    setTimeout(() => leaving.abort(why), 50);
    await assert.rejects(call, why);
    await assert.rejects(payments.create(EUR, { signal: AbortSignal.abort(why) }), why);
  });

  test('what makes keys is sent once: after a lost answer it throws, and 429 is waited for.', async () => {
    for (const fault of ['cut after', '503 after'] as const) {
      way.suffer(fault);
      await assert.rejects(client.apiKeys.create({ name: fault }), CounterfoilError);
      assert.equal(way.passed.length, 1);
    }
    way.suffer('429');
    const { key, id } = await client.apiKeys.create({ name: 'worker' });
    assert.equal((await way.client({ key }).apiKeys.read(id)).name, 'worker');
    const { data, replaced } = await client.apiKeys.rotate(id, { overlap_seconds: 0 });
    assert.equal(replaced.replaced_by, data.id);
    assert.equal((await client.apiKeys.revoke(data.id)).data.status, 'revoked');
    assert.ok((await Array.fromAsync(client.apiKeys.list())).length >= 4);
  });

  test('sets up webhook endpoints, and deletes one although the answer is lost.', async () => {
    const url = `http://localhost:${new URL(service.origin).port}/dev/inbox`;
    const { id, secret } = await client.webhookEndpoints.create({ url, types: ['payment.approved'] });
    assert.match(secret!, /^whsec_/);
    assert.equal((await client.webhookEndpoints.change(id, { status: 'disabled' })).status, 'disabled');
    assert.equal((await client.webhookEndpoints.read(id)).status, 'disabled');
    await client.webhookEndpoints.change(id, { status: 'enabled' });
    assert.notEqual((await client.webhookEndpoints.rotateSecret(id)).secret, secret);
    const resent = await client.webhookEndpoints.resend(id, {
      what: 'failed',
      since: new Date().toISOString(),
    });
    assert.equal(resent.deliveries, 0);
    assert.deepEqual(await Array.fromAsync(client.deliveries.list(id)), []);
    way.suffer('cut after');
    await client.webhookEndpoints.delete(id);
    assert.deepEqual(await client.webhookEndpoints.list(), []);
    await assert.rejects(client.webhookEndpoints.delete(id), { code: 'not_found' });
  });

  test('moves test payments, and waits for a decision.', async () => {
    const { id } = await client.payments.create(EUR);
    const undecided = await client.payments.waitForDecision(id, { timeoutMs: 0 });
    assert.equal(undecided.status, 'pending');
    const waiting = client.payments.waitForDecision(id);
    await client.testPayments.submit(id);
    way.suffer('cut within', '503 before');
    await client.testPayments.reject(id, { reason: 'duplicate' });
    const { status, status_reason } = await waiting;
    assert.deepEqual([status, status_reason], ['rejected', 'duplicate']);
    assert.equal((await client.payments.waitForDecision(id)).status, 'rejected');
  });

  test('throws for a key or an address with which no request could be right, and shows no key.', async () => {
    const baseUrl = 'https://pay.example';
    const key = 'cfk_live_abc';
    for (const [wrong, message] of [
      [{ key: '', baseUrl }, /key/],
      [{ key: 'whsec_abc', baseUrl }, /key/],
      [{ key, baseUrl: 'pay.example' }, /baseUrl/],
      [{ key, baseUrl: `${baseUrl}/v1/` }, /without \/v1/],
      [{ key, baseUrl: 'http://pay.example' }, /in the clear/],
      [{ key, baseUrl: 'ftp://pay.example' }, /https/],
    ] as const)
      assert.throws(() => new Counterfoil(wrong), { name: 'TypeError', message });
    for (const near of [
      'http://localhost:8080',
      'http://10.0.0.3',
      'http://counterfoil.payments.svc',
      'http://[::1]:1',
    ])
      assert.ok(new Counterfoil({ key, baseUrl: near }));
    const { inspect } = await import('node:util');
    assert.doesNotMatch(
      inspect(new Counterfoil({ key, baseUrl }), { depth: 9, showHidden: true }),
      /cfk_live/,
    );
    const astray = new Counterfoil({ key: 'cfk_test_a', baseUrl: `${service.origin}/dev/inbox` });
    await assert.rejects(astray.payments.page(), CounterfoilError);
  });
});
