// What was received and what is due, as the payment, its events and administrators' programs tell it.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { dueMinor, receivedMinor } from '../../src/payments/payment.ts';
import { withAct } from '../../src/review/act.ts';
import { receivedSoFar } from '../../src/review/review.ts';
import { addPerson, type Person, post, sentForReview } from '../support/admin.ts';
import { open } from '../support/customer.ts';
import { sharedHarness } from '../support/harness.ts';
import { erase, note } from '../support/payments.ts';
import { ANA, addReviewers } from '../support/reviewers.ts';

const service = sharedHarness('sqlite', { configuration: '\ntime_zone: Europe/Berlin\n' });
let ana: Person;
before(async () => {
  ana = await addPerson(service, 'administrator');
});

const paymentOf = async (id: string) => (await service.request(`/v1/payments/${id}`)).json.data;
const sums = ({ amount_received, amount_due }: Record<string, unknown>) => [amount_received, amount_due];
const act = async (id: string, name: string, body: object = {}) => {
  const answer = await post(service, ana, `/admin/payments/${id}/${name}`, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json.data;
};
const eventsOf = async (id: string) =>
  (await service.request(`/v1/payments/${id}/events`)).json.data as { type: string; data: object }[];

test('a payment tells what was received and what is due, in every state.', async () => {
  const { id, ...created } = await service.create({ amount: 49.9, currency: 'EUR' });
  assert.deepEqual(sums(created), ['0.00', '49.90']);
  assert.deepEqual(sums(await act(id, 'record', { amount: 20, received_on: '2026-11-20' })), [
    '20.00',
    '29.90',
  ]);
  assert.deepEqual(sums(await paymentOf(id)), ['20.00', '29.90']);
  assert.deepEqual(sums(await act(id, 'approve')), ['20.00', '0.00']);
  assert.deepEqual(sums(await paymentOf(id)), ['20.00', '0.00']);
});

test('more than was asked for leaves nothing due, and a payment approved without a record counts as whole.', async () => {
  const { id } = await service.create({ amount: 5 });
  assert.deepEqual(sums(await act(id, 'record', { amount: 7, received_on: '2026-11-20' })), ['7.00', '0.00']);
  const plain = await sentForReview(service, { amount: 5 });
  assert.deepEqual(sums(await paymentOf(plain)), ['0.00', '5.00']);
  assert.deepEqual(sums(await act(plain, 'approve')), ['5.00', '0.00']);
  const refused = await sentForReview(service, { amount: 5 });
  assert.deepEqual(sums(await act(refused, 'reject', { reason: 'other' })), ['0.00', '0.00']);
});

test('the event of money says what it was and what is due then, and so does the approval.', async () => {
  const { id } = await service.create({ amount: 49.9, currency: 'EUR' });
  await act(id, 'record', { amount: 20, received_on: '2026-11-20' });
  await act(id, 'approve');
  const told = (await eventsOf(id)).map(({ type, data }) => {
    const { amount, amount_received, amount_due, received } = data as Record<string, unknown>;
    return { type, amount, amount_received, amount_due, received };
  });
  assert.deepEqual(told, [
    {
      type: 'payment.created',
      amount: '49.90',
      amount_received: '0.00',
      amount_due: '49.90',
      received: null,
    },
    {
      type: 'payment.money_received',
      amount: '49.90',
      amount_received: '20.00',
      amount_due: '29.90',
      received: { amount: '20.00', received_on: '2026-11-20' },
    },
    {
      type: 'payment.approved',
      amount: '49.90',
      amount_received: '20.00',
      amount_due: '0.00',
      received: null,
    },
  ]);
});

test('money by hand is added to what is known, with an event for each; an equal amount asks.', async () => {
  const { id } = await service.create({ amount: 90, currency: 'EUR' });
  const cash = { amount: 30, received_on: '2026-11-20' };
  await act(id, 'record', cash);
  const asked = await post(service, ana, `/admin/payments/${id}/record`, cash);
  assert.deepEqual([asked.status, asked.json.error.code], [409, 'invalid_status']);
  assert.deepEqual(sums(await act(id, 'record', { ...cash, as: 'same' })), ['30.00', '60.00']);
  const { version } = await act(id, 'record', { ...cash, as: 'besides' });
  const again = { ...cash, as: 'besides', version: version - 1 };
  const repeated = await post(service, ana, `/admin/payments/${id}/record`, again);
  assert.deepEqual([repeated.status, repeated.json.error.code], [409, 'conflict']);
  await act(id, 'record', { ...cash, amount: 29.5 });
  const after = await paymentOf(id);
  assert.deepEqual([after.status, ...sums(after)], ['requires_review', '89.50', '0.50']);
  const told = (await eventsOf(id)).map(({ type, data }) => [
    type,
    (data as { amount_received: string }).amount_received,
  ]);
  assert.deepEqual(told, [
    ['payment.created', '0.00'],
    ['payment.money_received', '30.00'],
    ['payment.money_received', '60.00'],
    ['payment.money_received', '89.50'],
  ]);
  await act(id, 'approve');
  assert.match((await open(service, id)).body, /€89\.50 of €90\.00/);
  const late = await post(service, ana, `/admin/payments/${id}/record`, { ...cash, amount: 0.5 });
  assert.equal(late.status, 409);
});

test('what no act tells stays what it was: money of the test mode, and of a payment that was erased', async () => {
  const tried = (await service.create({ amount: 49.9, currency: 'EUR' })).id;
  await service.request(`/v1/test/payments/${tried}/record`, { method: 'POST', body: { amount: 20 } });
  await addReviewers(service.service.journal);
  await note(service, tried, 'Called.');
  assert.deepEqual(sums(await paymentOf(tried)), ['20.00', '29.90']);
  assert.deepEqual(sums(await act(tried, 'approve')), ['20.00', '0.00']);
  const { id } = await service.create({ amount: 49.9, currency: 'EUR' });
  await act(id, 'record', { amount: 20, received_on: '2026-11-20' });
  await act(id, 'approve');
  await erase(service, id);
  await note(service, id, 'Erased on demand.');
  assert.deepEqual(sums(await paymentOf(id)), ['20.00', '0.00']);
  assert.match((await open(service, id)).body, /€20\.00 of €49\.90/);
});

test('a line that is taken back leaves what no act tells, and nothing known where acts told all of it', () => {
  const line = {
    act: 'match',
    line: 'lin_1',
    amount_minor: 3000,
    currency: 'EUR',
    received_on: '2026-11-20',
  };
  const review = JSON.stringify([{ ...line, by: ANA.id, at: 0, entry_version: 2 }]);
  const left = (received_minor: number) =>
    withAct({ now: 0 }, { review, received_minor, returned_minor: null, version: 2 }, ANA, {
      act: 'unmatch',
      line: 'lin_1',
    }).received_minor;
  assert.deepEqual([left(5000), left(3000)], [2000, null]);
});

test('money by hand that a line showed before parts of it were counted is shown whole', () => {
  const money = { by: 'adm_a', at: 1, amount_minor: 3000, currency: 'EUR', received_on: '2026-11-20' };
  const acts = [
    { ...money, act: 'record', entry_version: 2 },
    { ...money, act: 'match', entry_version: 3, line: 'lin_a', same_as: 2 },
  ];
  assert.equal(receivedSoFar({ review: JSON.stringify(acts) }), 3000);
});

test('no more is due than was asked for, though more is known to have gone back than to have arrived.', () => {
  const payment = {
    amount_minor: 8000,
    received_minor: -999,
    returned_minor: 5000,
    status: 'requires_review',
  } as const;
  assert.deepEqual([receivedMinor(payment), dueMinor(payment)], [0, 8000]);
});

test('the last day to pay by is a date before the end.', async () => {
  const { pay_by, created_at, expires_at } = await service.create();
  assert.match(pay_by, /^\d{4}-\d\d-\d\d$/);
  assert.ok(pay_by < expires_at.slice(0, 10));
  assert.equal(Date.parse(expires_at) - Date.parse(created_at), 7 * 24 * 3600 * 1000);
});
