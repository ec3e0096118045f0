// Recording money under /admin: what is taken, what is refused, and what its caller, its merchant and its customer then read.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DAY_MS } from '../../../src/lib/time.ts';
import { addPerson, entryCount, type Person, post } from '../../support/admin.ts';
import { sharedHarness } from '../../support/harness.ts';

const MONEY = {
  amount: 40,
  received_on: '2024-11-20',
  bank_reference: 'NTRF 4711',
  note: 'Ten are missing.',
};

describe('recording money at /admin', () => {
  const service = sharedHarness('sqlite');
  let ana: Person;
  before(async () => {
    ana = await addPerson(service, 'reviewer', 'Ana Alvarez');
  });

  const record = (id: string, body: unknown = MONEY) =>
    post(service, ana, `/admin/payments/${id}/record`, body);
  async function faultsOf(body: unknown, fields = {}) {
    const { id } = await service.create(fields);
    const entries = await entryCount(service);
    const { status, text, json } = await record(id, body);
    assert.equal(status, 422, text);
    assert.equal(await entryCount(service), entries, 'nothing was written');
    return json.error.details;
  }

  test('it answers with the payment, and tells day, reference and note to administrators alone.', async () => {
    const { id } = await service.create({ currency: 'EUR' });
    await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
    const { status, json } = await record(id);
    assert.equal(status, 200);
    assert.equal(json.data.status, 'requires_review');
    const { at: _at, entry_version, by, ...act } = json.data.review[0];
    assert.equal(by.name, 'Ana Alvarez');
    assert.equal(entry_version, json.data.version);
    assert.deepEqual(act, {
      ...MONEY,
      act: 'record',
      line: null,
      amount: '40.00',
      currency: 'EUR',
      reason: null,
      message: null,
    });
    assert.equal(
      json.data.timeline.at(-1).sentence,
      'Ana Alvarez recorded that EUR 40.00 arrived on 20 Nov 2024, so it is open again.',
    );
    const { text, json: own } = await service.request(`/v1/payments/${id}`);
    assert.equal(own.data.status_reason, 'payment_received');
    assert.equal(own.data.amount_received, '40.00');
    for (const secret of ['4711', 'missing']) assert.ok(!text.includes(secret), secret);
    const queue = await service.request('/admin/payments?status=requires_review', { key: ana.token });
    assert.ok(queue.json.data.some((one: { id: string }) => one.id === id));
    const cancelling = await service.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
    assert.equal(cancelling.json.error.code, 'invalid_status');
  });

  test('every fault is told at once, and none of what was sent.', async () => {
    const body = { amount: '40', received_on: '20.11.2024', note: '4242 4242 4242 4242', version: 0, x: 1 };
    const faults = await faultsOf(body);
    assert.deepEqual(Object.keys(faults).sort(), ['amount', 'note', 'received_on', 'version', 'x']);
    assert.ok(!JSON.stringify(faults).includes('4242'));
    assert.deepEqual(Object.keys(await faultsOf({})).sort(), ['amount', 'received_on']);
  });

  test('the amount is judged as it is written, and by the payment’s currency.', async () => {
    for (const amount of ['0', '-1', '40.001', '99.99999999999999999', '1000000000000', 'null', '"40"']) {
      const faults = await faultsOf(`{"amount":${amount},"received_on":"2024-11-20"}`);
      assert.deepEqual(Object.keys(faults), ['amount'], amount);
    }
    const yen = { amount: 128, currency: 'JPY' };
    assert.match((await faultsOf({ ...MONEY, amount: 40.5 }, yen)).amount, /JPY has no smaller unit/);
    const { id } = await service.create(yen);
    assert.equal((await record(id)).json.data.review[0].amount, '40.00');
  });

  test('the day is one of the calendar that has begun somewhere.', async () => {
    for (const received_on of ['2024-02-30', '2024-1-1', '2024-11-20T00:00:00Z', ' ', ''])
      assert.deepEqual(Object.keys(await faultsOf({ ...MONEY, received_on })), ['received_on'], received_on);
    const day = (from: number) => new Date(service.clock.now() + from).toISOString().slice(0, 10);
    const later = await faultsOf({ ...MONEY, received_on: day(2 * DAY_MS) });
    assert.deepEqual(Object.keys(later), ['received_on']);
    const { id } = await service.create();
    assert.equal((await record(id, { ...MONEY, received_on: day(0) })).status, 200);
  });

  test('a payment that there is not is not found, whatever else is wrong with it.', async () => {
    for (const id of ['unknown', `pay_${'0'.repeat(36)}`]) {
      assert.equal((await record(id)).json.error.code, 'not_found');
      assert.equal((await record(id, {})).status, 422);
    }
  });

  test('a version other than the one that was seen is refused.', async () => {
    const { id } = await service.create();
    assert.equal((await record(id, { ...MONEY, version: 2 })).json.error.code, 'conflict');
    assert.equal((await record(id, { ...MONEY, version: 1 })).status, 200);
  });
});
