// Recording money in the console over HTTP: where it is offered, what is asked, what is refused and kept, and what is then read of it.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { HEADINGS, open } from '../../support/customer.ts';
import { strictly } from '../../support/markup.ts';
import { cancelAsCustomer, erase, paymentNow } from '../../support/payments.ts';
import { createAt } from '../../support/shop.ts';
import { approveAs, people, recordAs, rejectAs, sharedReview, statusOf, waiting } from './review-stage.ts';

const harness = sharedReview();
let who: Awaited<ReturnType<typeof people>>;
before(async () => {
  who = await people(harness);
});

const cancel = (id: string) => cancelAsCustomer(harness, id);
const made = async (fields: object = {}): Promise<string> => (await createAt(harness, 'transfer', fields)).id;
/** The reference that a transfer for a payment carries, as checkout shows it. */
const referenceOf = async (id: string) =>
  /RF\d\d(?: \w{4}){3} \w{3}/.exec((await open(harness, id)).body)![0];

test('A pending payment’s page tells the reference to look for and leads to the page that records money.', async () => {
  const id = await made({ merchant_reference: 'ORDER-77' });
  const page = await who.bob.get(`/payments/${id}`);
  const reference = await referenceOf(id);
  assert.ok(page.body.includes(reference), reference);
  assert.match(page.body, /DE89 3704 0044 0532 0130 00 ?Corner Shop GmbH/);
  const target = page.link('Record money…');
  const asking = await who.bob.get(target);
  for (const part of [
    reference,
    'DE89 3704 0044 0532 0130 00',
    '€49.90',
    'ORDER-77',
    'Amount that arrived, in EUR',
  ])
    assert.ok(asking.body.includes(part), part);
  assert.deepEqual(strictly(asking.text).faults, []);
  const done = await who.bob.send(asking, { amount: '49,90', received_on: '2024-11-20' }, /^Record/);
  assert.equal(done.url.pathname, `/console/payments/${id}`);
  assert.match(done.body, /To review/);
  assert.match(done.body, / Amount€49\.90 Day20 Nov 2024 Recorded byyou, /);
  assert.ok(done.body.includes(reference), 'the reference is still to be seen');
  assert.deepEqual(strictly(done.text).faults, []);
});

test('Who may only look is not offered to record money, nor anybody where nothing may be recorded.', async () => {
  const id = await made();
  assert.doesNotMatch((await who.olga.get(`/payments/${id}`)).text, /\/record\?/);
  assert.equal((await who.olga.get(`/payments/${id}/record`)).status, 403);
  const sent = await waiting(harness);
  assert.doesNotMatch((await who.ana.get(`/payments/${sent}`)).text, /\/record\?/);
  const refused = await who.ana.get(`/payments/${sent}/record`);
  assert.equal(refused.status, 409);
  assert.match(refused.body, /was sent for review/);
  await rejectAs(who.ana, sent);
  assert.match((await who.ana.get(`/payments/${sent}/record`)).body, /Ana rejected it /);
});

test('Less than was asked for is told to whoever approves, with reference, account and what was written.', async () => {
  const id = await made({ amount: 100, merchant_reference: 'ORDER-78' });
  const reference = await referenceOf(id);
  await cancel(id);
  await recordAs(who.bob, id, {
    amount: '90',
    bank_reference: 'NTRF 4711',
    note: 'The bank took <b>ten</b>.',
  });
  const asking = await who.ana.get(`/payments/${id}/approve`);
  assert.match(asking.body, /Look: €90\.00 arrived, €10\.00 less/);
  for (const part of [
    reference,
    'DE89 3704 0044 0532 0130 00',
    'NTRF 4711',
    'The bank took <b>ten</b>.',
    'Recorded byBob',
  ])
    assert.ok(asking.body.includes(part), part);
  await who.ana.send(asking, {}, /^Approve/);
  assert.equal(await statusOf(harness, id), 'approved');
});

test('What is missing or wrong is told at its field, and what was typed stays.', async () => {
  const id = await made();
  const asking = await who.ana.get(`/payments/${id}/record`);
  const empty = await who.ana.send(asking, {}, /^Record/);
  assert.equal(empty.status, 422);
  for (const words of ['Enter the amount that arrived', 'Enter the day on which it arrived'])
    assert.equal(empty.text.split(`>${words}<`).length - 1, 2, words);
  const typed = {
    amount: 'ten',
    received_on: '2999-01-01',
    bank_reference: 'x'.repeat(141),
    note: 'Ten <i>',
  };
  const wrong = await who.ana.send(empty, typed, /^Record/);
  for (const words of [
    'Amount must be a number like 49.90',
    'Day must not be a day in the future',
    'Bank reference must be 140 characters or fewer',
  ])
    assert.equal(wrong.text.split(`>${words}<`).length - 1, 2, words);
  assert.match(wrong.text, /value="ten"[\s\S]*value="2999-01-01"/);
  assert.match(wrong.text, /Ten &lt;i&gt;/);
  assert.deepEqual(strictly(wrong.text).faults, []);
  assert.equal(await statusOf(harness, id), 'pending');
});

test('A payment that changed since the page was opened takes nothing until somebody has looked again.', async () => {
  const id = await made();
  const asking = await who.ana.get(`/payments/${id}/record`);
  await cancel(id);
  const lost = await who.ana.send(asking, { amount: '49.90', received_on: '2024-11-20' }, /^Record/);
  assert.equal(lost.status, 409);
  assert.match(lost.text, /value="49\.90"/);
  await who.ana.send(lost, {}, /^Record/);
  assert.equal(await statusOf(harness, id), 'requires_review');
  const late = await who.ana.send(asking, { amount: '49.90', received_on: '2024-11-20' }, /^Record/);
  assert.equal(late.status, 409);
  assert.match(late.body, /Ana recorded money /);
  const { action, values } = asking.forms.find(({ button }) => /^Record/.test(button))!;
  const { version: _seen, ...rest } = values;
  const other = await made();
  const blind = await who.ana.post(new URL(action.href.replace(id, other)), {
    ...rest,
    amount: '1',
    received_on: '2024-11-20',
  });
  assert.equal(blind.status, 409);
  assert.equal(await statusOf(harness, other), 'pending');
});

test('A second sum is added where money is known; of an equal one the page asks, and says nothing of it else.', async () => {
  const id = await made({ amount: 90 });
  await recordAs(who.ana, id, { amount: '30' });
  const asking = await who.bob.get((await who.bob.get(`/payments/${id}`)).link('Record money…'));
  assert.match(asking.body, /€30\.00 is known already\./);
  const asked = await who.bob.send(asking, { amount: '30', received_on: '2024-11-21' }, /^Record/);
  assert.equal(asked.status, 409);
  assert.match(asked.body, /Ana recorded money .* Say whether/);
  assert.deepEqual(strictly(asked.text).faults, []);
  const same = await who.bob.send(asked, { as: 'same' }, /^It is other money/);
  assert.match(same.body, /€30\.00 arrived, €60\.00 less/);
  const besides = { as: 'besides' };
  const done = await who.bob.send(asked, besides, /^It is other money/);
  assert.match(done.body, /€60\.00 arrived, €30\.00 less/);
  assert.match((await open(harness, id)).body, /€60\.00 of €90\.00/);
  assert.equal((await who.bob.send(asked, besides, /^It is other money/)).status, 200);
  assert.match((await open(harness, id)).body, /€60\.00 of €90\.00/);
});

test('Its customer reads that money arrived, and after a rejection whom to ask for it.', async () => {
  const id = await made();
  await cancel(id);
  await recordAs(who.ana, id);
  const checking = await open(harness, id);
  assert.deepEqual([checking.status, checking.h1], [200, HEADINGS.card]);
  assert.match(checking.body, /€49\.90 has arrived\./);
  assert.doesNotMatch(checking.body, /not been charged|cancelled/i);
  await rejectAs(who.bob, id);
  const rejected = await open(harness, id);
  assert.doesNotMatch(rejected.body, /not been charged/);
  assert.match(rejected.body, / about this money/);
  const approved = await made();
  await recordAs(who.ana, approved);
  await approveAs(who.bob, approved);
  assert.match((await open(harness, approved)).body, /€49\.90 to .* is confirmed/);
});

test('The page that approves shows what decides: reference, method, account, payer, and what to look at.', async () => {
  const fields = { merchant_reference: 'ORDER-79', customer: { name: 'Somebody Else' } };
  await waiting(harness, 'transfer', fields);
  const id = await waiting(harness, 'transfer', fields);
  const whole = await who.ana.get(`/payments/${id}`);
  const reference = /RF\d\d(?: \w{4}){3} \w{3}/.exec(whole.body)![0];
  const { body, text } = await who.ana.get(`/payments/${id}/approve`);
  assert.ok(body.includes(reference));
  assert.match(body, /DE89 3704 0044 0532 0130 00 ?Corner Shop GmbH/);
  assert.match(body, /Corner Shop · Bank transfer/);
  assert.match(body, /from GB82 WEST 1234 5698 7654 32/);
  assert.match(text, /<tr class="off"><th scope="row">Name</);
  for (const fact of whole.body.match(/Look: [^.]*\./g)!) assert.ok(body.includes(fact), fact);
  assert.match(body, /Look: 1 other [^.]* order number/);
  assert.match(body, /Look: .* differ: customer “Ada Lovelace”, order “Somebody Else”\./);
  assert.deepEqual(strictly(text).faults, []);
});

test('Of a payment that was erased no reference is told, because erasing changed it.', async () => {
  const id = await made();
  const reference = await referenceOf(id);
  await cancel(id);

  assert.ok((await who.ana.get(`/payments/${id}`)).body.includes(reference));
  await erase(harness, id);
  assert.doesNotMatch((await who.ana.get(`/payments/${id}`)).body, /RF\d\d \w{4}/);
});

test('A form that is sent twice records once, also on a payment whose time is over.', async () => {
  const id = await made();
  harness.clock.advance(9 * 24 * 3600 * 1000);
  const bob = (await people(harness)).bob;
  const asking = await bob.get(`/payments/${id}/record`);
  for (let time = 0; time < 2; time++) {
    const { url } = await bob.send(asking, { amount: '20', received_on: '2024-11-20' }, /^Record/);
    assert.equal(url.pathname, `/console/payments/${id}`);
  }
  const { status, received_minor } = await paymentNow(harness, id);
  assert.deepEqual([status, received_minor], ['requires_review', 2000]);
});
