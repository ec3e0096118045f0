// "I have sent the transfer" is never thrown away, and can be taken back while nothing was received.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { addPerson, type Person, post } from '../support/admin.ts';
import { signIn } from '../support/console.ts';
import { type CheckoutPage, FROM_OUR_PAGE, open, send, TYPED } from '../support/customer.ts';
import { sharedHarness } from '../support/harness.ts';
import { createAt, KEYS, SHOP } from '../support/shop.ts';

const LIFE_S = 300;
const KEPT = 'Do not send the transfer again';

const service = sharedHarness('sqlite', {
  configuration: `${SHOP}\ncheckout_forms_per_payment: 3\nreview: { four_eyes_above: { EUR: 1 } }\n`,
});
let ana: Person;
before(async () => {
  ana = await addPerson(service, 'administrator');
});

const make = () => createAt(service, 'transfer', { amount: 49.9, expires_in: LIFE_S });
const paymentOf = async (id: string) =>
  (await service.request(`/admin/payments/${id}`, { key: ana.token })).json.data;
const actionsOf = async (id: string) =>
  (await paymentOf(id)).timeline.map(({ action }: { action: string }) => action);

/** The page begins with it, and a reviewer sees who sent what. */
async function assertKept(id: string, page: CheckoutPage, status: string): Promise<void> {
  assert.equal(page.h1, KEPT);
  assert.doesNotMatch(page.body, /need a new link|not been charged|Nothing was sent/);
  const { announced_at, submission, payment_details, ...payment } = await paymentOf(id);
  assert.equal(payment.status, status);
  assert.notEqual(announced_at, null);
  assert.equal(submission.payer_email, TYPED.transfer['payer-email']);
  assert.equal(submission.instructions.kind, 'transfer');
  assert.equal(payment_details.type, 'bank_transfer');
  const client = await signIn(service, 'auditor');
  assert.ok((await client.get('/')).text.includes(id));
}

for (const [what, end] of [
  ['the end', async () => service.clock.advance(LIFE_S * 1000 + 30_000)],
  [
    'the merchant cancelled it',
    (id: string) => service.request(`/v1/payments/${id}/cancel`, { method: 'POST', key: KEYS.transfer }),
  ],
] as const)
  test(`pressed after ${what} it is kept with its contact details, and reviewers see it.`, async () => {
    const { id } = await make();
    const page = await open(service, id);
    await end(id);
    await assertKept(id, await send(page, TYPED.transfer), 'cancelled');
    assert.deepEqual(await actionsOf(id), ['payment.created', 'payment.cancelled', 'payment.announced']);
  });

test('pressed twice it is kept once.', async () => {
  const { id } = await make();
  const page = await open(service, id);
  service.clock.advance(LIFE_S * 1000 + 1);
  await send(page, TYPED.transfer);
  await send(page, { ...TYPED.transfer, 'payer-email': 'other@example.org' });
  const { submission } = await paymentOf(id);
  assert.equal(submission.payer_email, TYPED.transfer['payer-email']);
  assert.equal((await actionsOf(id)).length, 3);
});

test('pressed after the method was taken away it submits the payment, as the customer was shown it.', async () => {
  const { id } = await make();
  const page = await open(service, id);
  const { offer } = service.service;
  const { settings } = offer;
  offer.replace(settings.filter(({ type }) => type !== 'bank_transfer'));
  try {
    const answer = await send(page, TYPED.transfer);
    assert.equal(answer.h1, 'Waiting for your transfer');
    const payment = await paymentOf(id);
    assert.equal(payment.status, 'requires_review');
    assert.equal(payment.submission.instructions.account.iban, 'DE89370400440532013000');
  } finally {
    offer.replace(settings);
  }
});

test('pressed after more forms than are taken it is kept.', async () => {
  const { id } = await createAt(service, 'all', { amount: 49.9 });
  const transfer = await open(service, id, { method: 'bank_transfer' });
  const details = await open(service, id, { method: 'details' });
  const statuses = [];
  for (let i = 0; i < 5; i++) statuses.push((await send(details, { 'payer-email': 'x' })).status);
  assert.deepEqual(statuses, [422, 422, 422, 429, 429]);
  assert.equal((await paymentOf(id)).announced_at, null);
  assert.equal((await send(transfer, TYPED.transfer)).h1, 'Waiting for your transfer');
  assert.equal((await paymentOf(id)).submission.payer_email, TYPED.transfer['payer-email']);
  assert.equal((await send(transfer, TYPED.transfer)).status, 429, 'once is enough');
});

test('pressed with an address that is wrong it is kept without it, and the page says not to pay again.', async () => {
  const { id } = await make();
  const answer = await send(await open(service, id), { ...TYPED.transfer, 'payer-email': 'ada' });
  assert.equal(answer.status, 422);
  assert.equal(answer.h1, KEPT);
  const { status, announced_at, submission } = await paymentOf(id);
  assert.deepEqual([status, submission.payer_email], ['pending', undefined]);
  assert.notEqual(announced_at, null);
  const corrected = await send(answer, TYPED.transfer);
  assert.equal(corrected.h1, 'Waiting for your transfer');
  assert.equal((await paymentOf(id)).submission.payer_email, TYPED.transfer['payer-email']);
});

test('pressed with a token that is not right any more it is kept without the instructions.', async () => {
  const { id } = await make();
  const answer = await send(await open(service, id), { ...TYPED.transfer, token: 'of another key' });
  assert.deepEqual([answer.status, answer.h1], [403, KEPT]);
  assert.doesNotMatch(answer.body, /Transfer exactly|Send the transfer in|Pay by/);
  const { submission, status } = await paymentOf(id);
  assert.deepEqual([status, submission.payer_email], ['pending', TYPED.transfer['payer-email']]);
  assert.equal(submission.instructions, undefined);
});

test('from another site nothing is kept, and the page says not to pay again.', async () => {
  const { id } = await make();
  const page = await open(service, id);
  const answer = await send(page, TYPED.transfer, {
    headers: { ...FROM_OUR_PAGE, 'sec-fetch-site': 'cross-site' },
  });
  assert.deepEqual([answer.status, answer.h1], [403, KEPT]);
  assert.equal((await paymentOf(id)).announced_at, null);
});

test('while the store takes nothing, the page says not to pay again and carries the message for another try.', async () => {
  const { id } = await make();
  const page = await open(service, id);
  const { journal } = service.service;
  const commit = journal.commit;
  journal.commit = () => Promise.reject(Object.assign(new Error('full'), { status: 503 }));
  let answer: CheckoutPage;
  try {
    answer = await send(page, TYPED.transfer);
  } finally {
    journal.commit = commit;
  }
  assert.ok(answer.status >= 500);
  assert.equal(answer.h1, KEPT);
  assert.match(answer.body, /was not saved/);
  const again = await send(answer);
  assert.equal(again.h1, 'Waiting for your transfer');
  assert.equal((await paymentOf(id)).submission.payer_email, TYPED.transfer['payer-email']);
});

test('of a suspended merchant it is kept.', async () => {
  const { id } = await make();
  const page = await open(service, id);
  const { directory } = service.service;
  const isSuspended = directory.isSuspended;
  directory.isSuspended = () => true;
  try {
    await assertKept(id, await send(page, TYPED.transfer), 'pending');
  } finally {
    directory.isSuspended = isSuspended;
  }
});

const takeBack = (page: CheckoutPage) =>
  send({ ...page, forms: page.forms.filter(({ button }) => button === 'Take it back') });

test('a mistaken press is taken back while nothing was received, and the payment can be paid again.', async () => {
  const { id } = await make();
  const waiting = await send(await open(service, id), TYPED.transfer);
  assert.doesNotMatch(waiting.body, /Transfer exactly/);
  assert.match(waiting.body, /shows again how/);
  const page = await takeBack(waiting);
  assert.equal(page.h1, 'Pay Corner Shop');
  const payment = await paymentOf(id);
  assert.deepEqual(
    [payment.status, payment.submission, payment.announced_at, payment.submitted_at, payment.payment_details],
    ['pending', null, null, null, null],
  );
  const events = (await service.request(`/v1/payments/${id}/events`, { key: KEYS.transfer })).json.data;
  assert.deepEqual(
    events.map(({ type, data }: { type: string; data: { status: string } }) => [type, data.status]),
    [
      ['payment.created', 'pending'],
      ['payment.submitted', 'requires_review'],
      ['payment.reopened', 'pending'],
    ],
  );
  assert.equal((await send(page, TYPED.transfer)).h1, 'Waiting for your transfer');
});

test('a press that came too late is taken back as well, and nothing promises that it can be paid then.', async () => {
  const { id } = await make();
  const page = await open(service, id);
  service.clock.advance(LIFE_S * 1000 + 1);
  const late = await send(page, TYPED.transfer);
  assert.match(late.body, /Pressed by mistake/);
  assert.doesNotMatch(late.body, /shows again how/);
  const answer = await takeBack(late);
  assert.equal(answer.h1, 'This payment link has expired');
  assert.equal((await paymentOf(id)).announced_at, null);
});

test('nothing is taken back once money was recorded or an administrator approved.', async () => {
  const { id } = await make();
  const waiting = await send(await open(service, id), TYPED.transfer);
  assert.equal((await post(service, ana, `/admin/payments/${id}/approve`)).status, 202);
  assert.doesNotMatch((await open(service, id)).body, /Pressed by mistake/);
  await takeBack(waiting);
  assert.equal((await paymentOf(id)).status, 'requires_review');
  const { id: other } = await make();
  await post(service, ana, `/admin/payments/${other}/record`, { amount: 20, received_on: '2026-11-20' });
  assert.doesNotMatch((await open(service, other)).body, /Pressed by mistake/);
});

test('the history verifies with all of it.', async () => {
  await service.verify();
});
