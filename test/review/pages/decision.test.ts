// Deciding over HTTP: what is asked, what is refused and kept, who may, who was first, and where it leads.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { open } from '../../support/customer.ts';
import { approveAs, people, rejectAs, sharedReview, statusOf, waiting } from './review-stage.ts';

const harness = sharedReview();
let who: Awaited<ReturnType<typeof people>>;
before(async () => {
  who = await people(harness);
});

test('The page that asks repeats amount, merchant and customer; sending it approves and leads to the next with what was done.', async () => {
  const first = await waiting(harness, 'transfer', { amount: 49.9 });
  const second = await waiting(harness, 'transfer', { amount: 60 });
  const asking = await who.ana.get(`/payments/${first}/approve`);
  assert.match(asking.body, /this payment\?.*€49\.90 Ada .* Corner Shop/);
  assert.equal(await statusOf(harness, first), 'requires_review');
  const next = await who.ana.send(asking, { bank_reference: 'TRX 2026/4711' }, /^Approve/);
  assert.equal(await statusOf(harness, first), 'approved');
  assert.equal(next.url.searchParams.get('open'), second);
  assert.match(next.body, /Approved by you: €49\.90, Ada Lovelace to Corner Shop/);
  assert.ok(next.link('See it').pathname.endsWith(first));
  const last = await approveAs(who.ana, second);
  assert.equal(last.url.searchParams.get('open'), null);
});

test('The next payment is one that fits the filters and that nobody else is at.', async () => {
  const made = [];
  for (const offer of ['transfer', 'cash', 'transfer', 'transfer'] as const)
    made.push(await waiting(harness, offer));
  const [first, , third, fourth] = made as [string, string, string, string];
  await who.bob.send(await who.bob.get(`/payments/${third}`), {}, 'Claim');
  const asking = await who.ana.get(`/payments/${first}/approve?merchant=mer_transfer`);
  const next = await who.ana.send(asking, {}, /^Approve/);
  assert.equal(next.url.searchParams.get('open'), fourth);
  assert.equal(next.url.searchParams.get('merchant'), 'mer_transfer');
});

test('A rejection wants a reason; what was typed stays, and every fault is told thrice.', async () => {
  const id = await waiting(harness);
  const asking = await who.ana.get(`/payments/${id}/reject`);
  const typed = { note: '<b>Nothing</b> arrived', message: 'x'.repeat(501), reason: '' };
  const wrong = await who.ana.send(asking, typed, /^Reject/);
  assert.equal(wrong.status, 422);
  assert.match(wrong.title, /^Error: /);
  assert.ok(wrong.text.indexOf('id="errors"') < wrong.text.indexOf('<h1>'));
  for (const [field, text] of [
    ['reason', 'Choose a reason'],
    ['message', 'Message to the customer must be 500 characters or fewer'],
  ] as const) {
    assert.equal(wrong.text.split(`>${text}<`).length - 1, 2, text);
    assert.match(wrong.text, new RegExp(`aria-describedby="[^"]*\\b${field}-error"`));
  }
  assert.match(wrong.text, /&lt;b&gt;Nothing&lt;\/b&gt; arrived/);
  assert.ok(wrong.text.includes('x'.repeat(501)));
  assert.equal(await statusOf(harness, id), 'requires_review');
});

test('The preview shows the message as checkout then does, and decides nothing.', async () => {
  const id = await waiting(harness);
  const message = 'We found no transfer.\r\n<b>Write</b> to us.';
  const asking = await who.ana.get(`/payments/${id}/reject`);
  const { action, values } = asking.forms.find(({ button }) => /^Reject/.test(button))!;
  const preview = await who.ana.post(action, { ...values, reason: '', message, preview: '1' });
  const section = /<section class="message">[\s\S]*?<\/section>/;
  assert.equal(preview.status, 200);
  const [shown] = section.exec(preview.text)!;
  assert.equal(await statusOf(harness, id), 'requires_review');
  const form = preview.forms.find(({ button }) => /^Reject/.test(button))!;
  const { preview: _button, ...rest } = form.values;
  await who.ana.post(form.action, { ...rest, reason: 'duplicate', message });
  assert.equal(await statusOf(harness, id), 'rejected');
  assert.equal(section.exec((await open(harness, id)).text)![0], shown);
});

test('A payment that changed since it was looked at is not decided, and what was typed stays.', async () => {
  const id = await waiting(harness);
  const asking = await who.bob.get(`/payments/${id}/approve`);
  await who.ana.send(await who.ana.get(`/payments/${id}`), { note: 'Wait for the bank.' }, 'Add the note');
  const lost = await who.bob.send(asking, { bank_reference: 'TRX 1' }, /^Approve/);
  assert.equal(lost.status, 409);
  assert.match(lost.body, /Ana added a note/);
  assert.match(lost.text, /value="TRX 1"/);
  assert.equal(await statusOf(harness, id), 'requires_review');
  await who.bob.send(lost, {}, /^Approve/);
  assert.equal(await statusOf(harness, id), 'approved');
});

test('Auditors are given neither the pages that ask nor their forms.', async () => {
  const id = await waiting(harness);
  for (const act of ['approve', 'reject', 'claim', 'release', 'notes']) {
    if (/approve|reject/.test(act)) assert.equal((await who.olga.get(`/payments/${id}/${act}`)).status, 403);
    const sent = await who.olga.post(`/payments/${id}/${act}`, { reason: 'other', note: 'x' });
    assert.equal(sent.status, 403, act);
  }
  assert.equal(await statusOf(harness, id), 'requires_review');
});

test('Unknown payments are not found, by whatever page or form.', async () => {
  for (const id of ['pay_x', `pay_${'0'.repeat(36)}`])
    for (const act of ['', '/approve', '/reject'])
      assert.equal((await who.ana.get(`/payments/${id}${act}`)).status, 404, id + act);
  assert.equal((await who.ana.post(`/payments/pay_x/approve`)).status, 404);
});

test('A form that comes back, for a preview or a fault, still says that the payment has changed.', async () => {
  const id = await waiting(harness);
  const asking = await who.bob.get(`/payments/${id}/reject`);
  await who.ana.send(await who.ana.get(`/payments/${id}`), { note: 'The money is here!' }, 'Add the note');
  for (const typed of [{ message: 'Sorry.', preview: '1' }, { reason: '' }]) {
    const { action, values } = asking.forms.find((form) => /^Reject/.test(form.button))!;
    const again = await who.bob.post(action, { ...values, ...typed });
    assert.match(again.body, /payment has changed since/);
  }
});

test('A form without the version that was seen decides nothing.', async () => {
  const waits = await waiting(harness);
  const unseen = await who.bob.post(`/payments/${waits}/approve`, {});
  assert.equal(unseen.status, 409);
  assert.match(unseen.body, /has changed since/);
  assert.equal(await statusOf(harness, waits), 'requires_review');
  const id = await waiting(harness);
  await rejectAs(who.ana, id);
  const again = await who.bob.post(`/payments/${id}/approve`, {});
  assert.equal(again.status, 409);
  assert.equal(await statusOf(harness, id), 'rejected');
});
