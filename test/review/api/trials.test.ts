// Trying out: a test key brings its payments to every state without a person, and nobody does that with a live payment.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { hiddenToken } from '../../../src/checkout/form.ts';
import { newSecret } from '../../../src/lib/secrets.ts';
import { load, open, send, TYPED } from '../../support/customer.ts';
import {
  LIVE_KEY,
  OTHER_KEY,
  sharedHarness,
  startHarness,
  TEST_KEY_IN_PRODUCTION,
} from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { paymentNow } from '../../support/payments.ts';
import { createAt, SHOP } from '../../support/shop.ts';

const TRIALS = ['submit', 'approve', 'reject', 'expire', 'record', 'request_link'];
const REASONS = ['transfer_not_received', 'details_do_not_match', 'duplicate', 'suspected_fraud', 'other'];

describe('trying out', () => {
  const service = sharedHarness('sqlite', { isVerified: true });
  const attempt = (id: string, trial: string, options = {}) =>
    service.request(`/v1/test/payments/${id}/${trial}`, { method: 'POST', ...options });
  const entriesOf = async (id: string) =>
    (
      await service.service.database.query<{ actor: string; action: string }>(
        'select actor, action from audit_entries where subject = ? order by number',
        id,
      )
    ).map(({ actor, action }) => `${actor.split(':')[0]} ${action}`);

  test('a payment is submitted and approved; the entries say test.', async () => {
    const { id } = await service.create();
    const submitted = await attempt(id, 'submit');
    assert.equal(submitted.status, 200, submitted.text);
    assert.equal(submitted.json.data.status, 'requires_review');
    assert.equal(submitted.json.data.payment_details.card.last4, '4242');
    assert.ok(submitted.json.data.submitted_at);
    const { status, json } = await attempt(id, 'approve');
    assert.equal(status, 200);
    assert.equal(json.data.status, 'approved');
    assert.ok(json.data.decided_at);
    assert.deepEqual((await service.request(`/v1/payments/${id}`)).json, json);
    assert.deepEqual(await entriesOf(id), [
      'merchant payment.created',
      'test payment.requires_review',
      'test payment.approved',
    ]);
  });

  test('a rejection has each reason as its merchant is told it, and the message.', async () => {
    for (const reason of REASONS) {
      const { id } = await service.create();
      await attempt(id, 'submit');
      const body = { reason, message: 'No money came.' };
      const { status, json } = await attempt(id, 'reject', {
        body,
        headers: { 'content-type': 'application/json' },
      });
      assert.equal(status, 200);
      const { status_reason, review_message } = json.data;
      assert.equal(json.data.status, 'rejected');
      assert.equal(status_reason, reason === 'suspected_fraud' ? 'other' : reason);
      assert.equal(review_message, 'No money came.');
    }
    const { id } = await service.create();
    await attempt(id, 'submit');
    assert.equal((await attempt(id, 'reject')).json.data.status_reason, 'other', 'without a body');
  });

  test('a payment expires at once, as the clock would have it.', async () => {
    const { id, expires_at } = await service.create();
    const { status, json } = await attempt(id, 'expire');
    assert.equal(status, 200);
    assert.equal(json.data.status, 'cancelled');
    assert.equal(json.data.status_reason, 'expired');
    assert.ok(json.data.expires_at < expires_at);
    assert.equal((await open(service, id)).status, 410);
    assert.deepEqual(await entriesOf(id), [
      'merchant payment.created',
      'test payment.expiry_moved',
      'clock payment.cancelled',
    ]);
  });

  test('a move that does not start there is 409, and changes nothing.', async () => {
    const { id } = await service.create();
    for (const trial of ['approve', 'reject']) assert.equal((await attempt(id, trial)).status, 409, trial);
    assert.equal((await service.request(`/v1/payments/${id}`)).json.data.status, 'pending');
    await attempt(id, 'submit');
    for (const trial of ['submit', 'expire']) assert.equal((await attempt(id, trial)).status, 409, trial);
    await attempt(id, 'approve');
    for (const trial of TRIALS) {
      const { status, json } = await attempt(id, trial);
      assert.equal(status, 409, trial);
      assert.equal(json.error.code, 'invalid_status');
    }
    const late = await service.create({ expires_in: 300 });
    service.clock.advance(301_000);
    for (const trial of ['submit', 'approve', 'reject', 'expire'])
      assert.equal((await attempt(late.id, trial)).status, 409, `${trial}, late`);
  });

  test('every type of event is reached: money that came, a payment opened again, a new link asked for.', async () => {
    const eventsOf = async (id: string) =>
      (await service.request(`/v1/payments/${id}/events`)).json.data.map(
        ({ type }: { type: string }) => type,
      );
    const paid = await service.create({ amount: 49.9 });
    const recorded = (await attempt(paid.id, 'record')).json.data;
    assert.deepEqual([recorded.status, recorded.amount_received], ['requires_review', '49.90']);
    assert.equal((await attempt(paid.id, 'approve')).json.data.status, 'approved');
    assert.deepEqual(await eventsOf(paid.id), [
      'payment.created',
      'payment.money_received',
      'payment.approved',
    ]);
    const late = await service.create();
    await attempt(late.id, 'expire');
    assert.ok((await attempt(late.id, 'request_link')).json.data.link_requested_at);
    assert.equal((await attempt(late.id, 'request_link')).status, 409, 'once');
    const reopened = (await attempt(late.id, 'record')).json.data;
    assert.deepEqual([reopened.status, reopened.status_reason], ['requires_review', 'payment_received']);
    assert.deepEqual(await eventsOf(late.id), [
      'payment.created',
      'payment.expired',
      'payment.link_requested',
      'payment.reopened',
    ]);
    assert.deepEqual(
      (await entriesOf(late.id)).slice(1).map((one) => one.split(' ')[0]),
      ['test', 'clock', 'test', 'test'],
    );
  });

  test('money arrives in part, in whole and in excess; what is left stands in `amount_due` until a person decides.', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const [body, received, due] of [
      ['', '49.90', '0.00'],
      ['{}', '49.90', '0.00'],
      ['{"amount": null}', '49.90', '0.00'],
      ['{"amount": 20.05}', '20.05', '29.85'],
      ['{"amount": 60}', '60.00', '0.00'],
    ] as const) {
      const { id } = await service.create({ amount: 49.9 });
      const { status, json } = await attempt(id, 'record', { body, headers });
      assert.equal(status, 200, body);
      const { amount_received, amount_due } = json.data;
      assert.deepEqual([json.data.status, amount_received, amount_due], ['requires_review', received, due]);
      const events = (await service.request(`/v1/payments/${id}/events`)).json.data;
      assert.equal(events.at(-1).data.received.amount, received);
      const approved = (await attempt(id, 'approve')).json.data;
      assert.deepEqual(
        [approved.status, approved.amount_received],
        ['approved', received],
        'as much as came',
      );
      assert.equal(approved.amount_due, '0.00');
    }
    const { id } = await service.create({ amount: 500, currency: 'JPY' });
    for (const [body, field] of [
      ['{"amount": "40"}', 'amount'],
      ['{"amount": 0}', 'amount'],
      ['{"amount": -1}', 'amount'],
      ['{"amount": 1.005}', 'amount'],
      ['{"amount": 0.5}', 'amount'],
      ['{"amount": 40.000000000000000001}', 'amount'],
      ['{"amont": 40}', 'amont'],
    ] as const) {
      const { status, json } = await attempt(id, 'record', { body, headers });
      assert.deepEqual([status, Object.keys(json.error.details ?? {})], [422, [field]], body);
    }
    assert.deepEqual(await entriesOf(id), ['merchant payment.created']);
  });

  test('what is wrong with a rejection is told, with its field.', async () => {
    const { id } = await service.create();
    await attempt(id, 'submit');
    const headers = { 'content-type': 'application/json' };
    for (const [body, field] of [
      [{ reason: 'because' }, 'reason'],
      [{ message: 4 }, 'message'],
      [{ mesage: 'x' }, 'mesage'],
      [{ message: '4111 1111 1111 1111' }, 'message'],
      [[], 'body'],
    ] as const) {
      const { status, json } = await attempt(id, 'reject', { body, headers });
      assert.equal(status, 422, JSON.stringify(body));
      assert.deepEqual(Object.keys(json.error.details), [field]);
    }
    const broken = await attempt(id, 'reject', { body: '{', headers });
    assert.equal(broken.json.error.code, 'invalid_json');
    const text = await attempt(id, 'reject', { body: 'x', headers: { 'content-type': 'text/plain' } });
    assert.equal(text.status, 415);
  });

  test('another merchant’s payment is as unknown as none.', async () => {
    const { id } = await service.create();
    for (const trial of TRIALS) {
      assert.equal((await attempt(id, trial, { key: OTHER_KEY })).status, 404);
      assert.equal((await attempt('pay_x', trial)).status, 404);
    }
    assert.deepEqual(await entriesOf(id), ['merchant payment.created']);
  });

  test('a payment that was changed outside the service is not decided.', async () => {
    const changed = await startHarness('sqlite');
    const { id } = await changed.create();
    await changed.request(`/v1/test/payments/${id}/submit`, { method: 'POST' });
    await editOutside(changed.store, `update payments set amount_minor = 1 where id = '${id}'`);
    changed.service.database.refresh();
    const { status, json } = await changed.request(`/v1/test/payments/${id}/approve`, { method: 'POST' });
    assert.equal(status, 409);
    assert.equal(json.error.code, 'conflict');
    await changed.close();
  });
});

describe('trying out by the page', () => {
  const shop = sharedHarness('sqlite', { configuration: SHOP });

  for (const [number, status] of [
    ['4000 0000 0000 0101', 'approved'],
    ['4000 0000 0000 0200', 'rejected'],
  ] as const)
    test(`the test card ${number} is ${status} behind the review, without a person.`, async () => {
      const { id } = await createAt(shop, 'card');
      await send(await open(shop, id), { ...TYPED.card, 'card-number': number });
      const actions = await shop.service.database.query<{ action: string }>(
        'select action from audit_entries where subject = ? order by number',
        id,
      );
      assert.deepEqual(
        actions.map(({ action }) => action),
        ['payment.created', 'payment.requires_review', `payment.${status}`],
      );
    });

  test('the buttons of a test payment bring it to every state.', async () => {
    for (const [trial, heading] of [
      ['submit', /is checking your payment/],
      ['approve', /You have paid/],
      ['reject', /not accept/i],
      ['expire', /expired/i],
    ] as const) {
      const { id } = await createAt(shop, 'card');
      const page = await open(shop, id);
      const forms = page.forms.filter(({ values }) => values.action === 'try');
      assert.equal(forms.length, 1);
      const shown = await send({ ...page, forms }, { trial });
      assert.match(shown.h1, heading, trial);
    }
  });

  test('a word that is no button, and a form without its token, do nothing.', async () => {
    const { id } = await createAt(shop, 'card');
    const page = await open(shop, id);
    const forms = page.forms.filter(({ values }) => values.action === 'try');
    assert.equal((await send({ ...page, forms }, { trial: 'toString' })).status, 403);
    assert.equal((await send({ ...page, forms }, { trial: 'approve', token: 'x' })).status, 403);
    assert.equal((await open(shop, id)).status, 200);
  });
});

describe('nothing is tried out with live payments', () => {
  const production = sharedHarness('sqlite', { environment: 'production' });

  test('a live key, and a live payment with a test key, are 404.', async () => {
    const live = await production.create({}, { key: LIVE_KEY });
    for (const key of [LIVE_KEY, TEST_KEY_IN_PRODUCTION])
      for (const trial of TRIALS) {
        const path = `/v1/test/payments/${live.id}/${trial}`;
        const { status, json } = await production.request(path, { method: 'POST', key });
        assert.equal(status, 404, `${trial} with ${key}`);
        assert.equal(json.error.code, 'not_found');
      }
    const left = await production.request(`/v1/payments/${live.id}`, { key: LIVE_KEY });
    assert.equal(left.json.data.status, 'pending');
  });

  test('a test payment in production is tried out by its key, and has no buttons.', async () => {
    const { id } = await production.create({}, { key: TEST_KEY_IN_PRODUCTION });
    const page = await load(new URL(`/checkout/payment.php?payment_id=${id}`, production.origin));
    assert.equal(page.status, 200, page.h1 + page.url);
    assert.match(page.body, /Test payment/);
    assert.ok(page.forms.every(({ values }) => values.action !== 'try'));
    const path = `/v1/test/payments/${id}/submit`;
    const { status } = await production.request(path, { method: 'POST', key: TEST_KEY_IN_PRODUCTION });
    assert.equal(status, 200);
  });
});

test('in production the buttons are there for the merchant that try_out names, on test payments alone.', async () => {
  const sha256 = (key: string) => createHash('sha256').update(key).digest('hex');
  const [live, trial] = [newSecret('cfk_live_'), newSecret('cfk_test_')];
  const keys = `[{key_sha256: ${sha256(live)}, mode: live}, {key_sha256: ${sha256(trial)}}]`;
  const configuration = `  - {id: mer_tries, name: Shop that tries, try_out: true, keys: ${keys}}\n`;
  await using production = await startHarness('sqlite', { environment: 'production', configuration });
  for (const [key, buttons, status] of [
    [trial, 1, 303],
    [live, 0, 403],
    [TEST_KEY_IN_PRODUCTION, 0, 403],
  ] as const) {
    const { id } = await production.create({}, { key });
    const page = await load(new URL(`/checkout/payment.php?payment_id=${id}`, production.origin));
    assert.equal(page.forms.filter(({ values }) => values.action === 'try').length, buttons);
    // The form is judged also where its token is right.
    const payment = await paymentNow(production, id);
    const [, token] = /name="token" value="([^"]+)"/.exec(
      String(hiddenToken(production.service.ring, payment, 'try')),
    )!;
    const form = { action: page.url, values: { action: 'try', token: token! }, fields: [], button: '' };
    const sent = await send({ ...page, forms: [form] }, { trial: 'approve' }, { follow: false });
    assert.equal(sent.status, status);
  }
});
