// What creation takes and refuses, rule by rule: amounts, currencies, texts, addresses, metadata, card data, bodies.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertFaults } from '../../support/faults.ts';
import { sharedHarness } from '../../support/harness.ts';

const MAXIMUM = '999999999999.99';

/** JSON as written: what `JSON.stringify` could not send. */
const body = (amount: string, rest = '') => `{"amount":${amount}${rest}}`;
const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

describe('creating a payment', () => {
  const service = sharedHarness('sqlite');

  const post = (sent: unknown, headers: Record<string, string> = {}) =>
    service.request('/v1/payments', { method: 'POST', body: sent, headers });

  test('an amount is taken exactly as written.', async () => {
    for (const [written, returned] of [
      ['49.9', '49.90'],
      ['0.01', '0.01'],
      ['1e2', '100.00'],
      ['1E+2', '100.00'],
      ['0.1e1', '1.00'],
      ['125e-2', '1.25'],
      ['1.10', '1.10'],
      ['10.00000000000000000000000000', '10.00'],
      ['8.2', '8.20'],
      ['1.15', '1.15'],
      ['123456789012.34', '123456789012.34'],
      [MAXIMUM, MAXIMUM],
    ]) {
      const answer = await post(body(written!));
      assert.equal(answer.json?.data?.amount, returned, `${written}: ${answer.text}`);
    }
  });

  test('an amount that is not above zero, not within the maximum or not whole cents is refused.', async () => {
    const refused = `0 -0 0.0 -0.01 -1 0e5 0.001 1.005 99.99999999999999999 0.010000000000000000001 1e-3 1e-400
        1000000000000 1000000000000.00 1000000000000.01 999999999999.991 999999999999.990000000000000001 1e12 1e400 -1e400
        1e99999999999999999999 9007199254740993 12345678901234567890`;
    for (const written of refused.split(/\s+/)) assertFaults(await post(body(written)), ['amount'], written);
  });

  test('an amount that is not a number is refused.', async () => {
    for (const written of ['"49.90"', 'null', 'true', 'false', '[1]', '{"value":1}', '""', '[]'])
      assertFaults(await post(body(written)), ['amount'], written);
    assertFaults(await post('{}'), ['amount'], 'absent');
  });

  test('currencies without minor units refuse a fraction.', async () => {
    for (const currency of ['JPY', 'KRW', 'CLP', 'VND', 'jpy'])
      assertFaults(await post({ amount: 10.5, currency }), ['amount'], currency);
    assert.equal((await service.create({ amount: 1050, currency: 'JPY' })).amount, '1050.00');
    assert.equal((await post(body('10.00', ',"currency":"JPY"'))).status, 201);
    assert.equal((await service.create({ amount: 1.25, currency: 'KWD' })).amount, '1.25');
  });

  test('a currency is an ISO 4217 code in either case, USD when absent or null.', async () => {
    for (const [sent, returned] of [
      ['EUR', 'EUR'],
      ['eur', 'EUR'],
      ['eUr', 'EUR'],
      [null, 'USD'],
      [undefined, 'USD'],
    ])
      assert.equal((await service.create({ currency: sent })).currency, returned);
    for (const currency of [
      'XXX',
      'XTS',
      'XAU',
      'BGN',
      'ABC',
      'US',
      'USDX',
      ' USD',
      'US$',
      'u\u017fd',
      '\ufb06n',
      'DEM',
      1,
    ])
      assertFaults(await post({ amount: 1, currency }), ['currency'], String(currency));
  });

  test('unknown fields are ignored, those of the answer included.', async () => {
    const fields = {
      status: 'approved',
      id: 'pay_mine',
      merchant_name: 'X',
      livemode: true,
      object: 'x',
      foo: [1],
    };
    const payment = await service.create({ ...fields, customer: { name: 'A', title: 'Dr' } });
    assert.equal(payment.status, 'pending');
    assert.notEqual(payment.id, 'pay_mine');
    assert.equal(payment.merchant_name, 'Development Shop');
    assert.equal(payment.livemode, false);
    assert.equal('foo' in payment, false);
    assert.deepEqual(payment.customer, { name: 'A', email: null, phone: null });
  });

  test('unknown fields are refused with `Prefer: handling=strict`.', async () => {
    const sent = {
      amount: 1,
      status: 'approved',
      nope: 1,
      customer: { title: 'Dr' },
      metadata: { any: 1 },
    };
    for (const prefer of ['handling=strict', 'respond-async, handling="strict"', 'Handling = Strict; x=y'])
      assertFaults(await post(sent, { prefer }), ['status', 'nope', 'customer.title'], prefer);
    for (const prefer of ['handling=lenient', 'x-handling=strict', 'return=minimal', ''])
      assert.equal((await post(sent, { prefer })).status, 201, prefer);
    const known = await post({ amount: 1, expires_in: 300 }, { prefer: 'handling=strict' });
    assert.equal(known.headers.get('preference-applied'), 'handling=strict');
  });

  test('expires_in is whole seconds from 300 to 15552000; without it a payment lives 7 days.', async () => {
    for (const [sent, seconds] of [
      [300, 300],
      [15_552_000, 15_552_000],
      [null, 604_800],
      [undefined, 604_800],
    ] as const) {
      const { created_at, expires_at } = await service.create({ expires_in: sent });
      assert.equal((Date.parse(expires_at) - Date.parse(created_at)) / 1000, seconds);
    }
    for (const value of [299, 15_552_001, 0, -300, 300.5, '300', true, []])
      assertFaults(await post({ amount: 1, expires_in: value }), ['expires_in'], String(value));
  });

  test('all faults are told in one answer, nested ones with dotted names.', async () => {
    const sent = {
      amount: 0,
      currency: 'x',
      description: 'a\0',
      return_url: 'x',
      customer: { email: 'x', phone: 'a\n1' },
    };
    const faults = ['amount', 'currency', 'description', 'return_url', 'customer.email', 'customer.phone'];
    assertFaults(
      await post({ ...sent, metadata: nested(6), expires_in: 1, cvv: 1 }),
      [...faults, 'metadata', 'expires_in', 'cvv'],
      'all',
    );
  });

  test('every field is there, null when unset.', async () => {
    const nulls = ['merchant_reference', 'description', 'return_url', 'cancel_url', 'customer', 'metadata'];
    const payment = await service.create({ merchant_reference: null });
    for (const name of [...nulls, 'status_reason', 'payment_details'])
      assert.equal(payment[name], null, name);
    assert.equal(payment.updated_at, payment.created_at);
  });

  test('what was created is in a history that verifies.', async () => {
    assert.ok((await service.verify()).payments! > 20);
  });
});
