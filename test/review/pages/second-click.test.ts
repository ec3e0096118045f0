// What the console says of one's own second click, of what was never sent, and of an approval with less.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { open } from '../../support/customer.ts';
import { createAt } from '../../support/shop.ts';
import { approveAs, people, recordAs, sharedReview, statusOf, waiting } from './review-stage.ts';

const harness = sharedReview();
let who: Awaited<ReturnType<typeof people>>;
before(async () => {
  who = await people(harness);
});

const actsOf = async (id: string) => {
  const [row] = await harness.service.database.query<{ review: string }>(
    'select review from payments where id = ?',
    id,
  );
  return (JSON.parse(row!.review) as { act: string }[]).map(({ act }) => act);
};

test('Approve pressed twice answers as done, and only the same act by the same person is the same.', async () => {
  const id = await waiting(harness, 'transfer');
  const asking = await who.ana.get(`/payments/${id}/approve`);
  await who.ana.send(asking, { bank_reference: 'B-1' }, /^Approve/);
  const again = await who.ana.send(asking, { bank_reference: 'B-1' }, /^Approve/);
  assert.equal(again.status, 200);
  assert.match(again.body, /Approved by you/);
  assert.deepEqual(await actsOf(id), ['approve']);
  const other = await who.ana.send(asking, { bank_reference: 'B-2' }, /^Approve/);
  assert.equal(other.status, 409);
  assert.match(other.body, /You have decided this already/);
});

test('The first of two approvals pressed twice answers as done.', async () => {
  const id = await waiting(harness, 'transfer', { amount: 6000 });
  const asking = await who.ana.get(`/payments/${id}/approve`);
  await who.ana.send(asking, {}, /^Approve/);
  assert.match((await who.ana.send(asking, {}, /^Approve/)).body, /Approval 1 of 2 is recorded/);
  assert.deepEqual(await actsOf(id), ['approve']);
});

test('A note and recorded money that are sent twice stand once.', async () => {
  const { id } = await createAt(harness, 'transfer', { amount: 49.9 });
  const recording = await who.ana.get(`/payments/${id}/record`);
  const money = { amount: '20', received_on: '2024-11-20' };
  await who.ana.send(recording, money, /^Record/);
  assert.equal((await who.ana.send(recording, money, /^Record/)).status, 200);
  const page = await who.ana.get(`/payments/${id}`);
  for (let i = 0; i < 2; i++) await who.ana.send(page, { note: 'Called them' }, /note/i);
  assert.deepEqual(await actsOf(id), ['record', 'note']);
});

test('A payment with less is approved with less: on the button, on the receipt and after it.', async () => {
  const { id } = await createAt(harness, 'transfer', { amount: 49.9 });
  await recordAs(who.ana, id, { amount: '20.00' });
  const asking = await who.ana.get(`/payments/${id}/approve`);
  for (const said of ['Approve with €20.00 of €49.90', 'The receipt says that €20.00'])
    assert.ok(asking.body.includes(said), said);
  await approveAs(who.ana, id);
  assert.equal(await statusOf(harness, id), 'approved');
  const receipt = (await open(harness, id)).body;
  assert.match(receipt, /€20\.00 of €49\.90 was received/);
  assert.doesNotMatch(receipt, /is confirmed/);
});

test('Of what was never sent nothing is said to be erased.', async () => {
  const { id } = await createAt(harness, 'transfer', { amount: 49.9 });
  assert.match((await who.ana.get(`/payments/${id}`)).body, /sent Nothing yet/);
  await recordAs(who.ana, id);
  const page = (await who.ana.get(`/payments/${id}`)).body;
  assert.match(page, /sent Nothing\. An administrator/);
  assert.doesNotMatch(page, /Erased/);
});

test('A payment under review has no end.', async () => {
  const { id } = await createAt(harness, 'transfer', { amount: 100, expires_in: 300 });
  await recordAs(who.ana, id, { amount: '60' });
  harness.clock.advance(10 * 24 * 3600 * 1000);
  const page = (await open(harness, id)).body;
  assert.match(page, /€60\.00 of €100\.00 has arrived\. €40\.00 /);
  assert.doesNotMatch(page, /be paid until|Pay by/);
});
