// The receipt for books, and /verify, where anyone checks its number and learns nothing of numbers that were never issued.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payersUrl, paymentWithReceipt } from '../../src/checkout/receipt.ts';
import { MINUTE_MS } from '../../src/lib/time.ts';
import { open } from '../support/customer.ts';
import { type Harness, sharedHarness, startHarness } from '../support/harness.ts';
import { editOutside } from '../support/outside.ts';

const harness = sharedHarness('sqlite', { isVerified: true });
const PERSONAL = { customer: { name: 'Ada Lovelace', email: 'ada@example.com' }, description: 'Two loaves' };

async function approved(on: Harness): Promise<{ id: string; number: string }> {
  const { id } = await on.create({ ...PERSONAL, amount: 49.9, currency: 'EUR' });
  for (const act of ['submit', 'approve'])
    await on.request(`/v1/test/payments/${id}/${act}`, { method: 'POST' });
  const { body } = await open(on, id);
  return { id, number: /\d+(?:-[0-9a-z]{4}){3}/.exec(body)![0] };
}

const verify = (number: string) => harness.request(`/verify?number=${encodeURIComponent(number)}`);

test('the approved page has the number of its receipt, and /verify says what was paid to whom, and nothing personal', async () => {
  const { number } = await approved(harness);
  const other = await approved(harness);
  assert.notEqual(number, other.number);
  for (const typed of [number, number.toUpperCase(), ` ${number.replaceAll('-', '–')} `]) {
    const { status, text } = await verify(typed);
    assert.equal(status, 200, typed);
    assert.ok(text.includes('Development Shop') && text.includes('€49.90'));
    for (const secret of ['Lovelace', 'ada@', 'Two loaves', 'pay_'])
      assert.ok(!text.includes(secret), secret);
  }
});

test('the payer has their whole name on the receipt that their letter leads to, and others with the link see it masked', async () => {
  const { id } = await approved(harness);
  const other = await approved(harness);
  const { ring, checkoutBaseUrl } = harness.service;
  const token = (of: string) => new URL(payersUrl(ring, checkoutBaseUrl, of)).searchParams.get('payer')!;
  const own = token(id);
  assert.match((await open(harness, id, { payer: own, lang: 'de' })).body, /Ada Lovelace/);
  for (const payer of ['', `${own.slice(0, -1)}_`, token(other.id)]) {
    const { body } = await open(harness, id, { payer });
    assert.match(body, /A••• L•••/);
    assert.doesNotMatch(body, /Lovelace/);
  }
});

test('1,000 changed numbers are refused, all with the same page', async () => {
  const { number } = await approved(harness);
  const characters = '0123456789abcdefghjkmnpqrstvwxyz';
  const changed = new Set<string>();
  for (let i = 1; changed.size < 1000; i++) {
    // The last four characters count through others.
    const tail = [0, 5, 10, 15].map((bits) => characters[(i >> bits) & 31]).join('');
    const one = number.slice(0, -4) + tail;
    if (one !== number) changed.add(one);
  }
  const { database } = harness.service;
  for (const one of changed) assert.equal(await paymentWithReceipt(database, one), undefined, one);
  const pages = new Set<string>();
  for (const one of [...changed].slice(0, 10)) {
    const { status, text } = await verify(one);
    assert.equal(status, 404, one);
    pages.add(text.replaceAll(one, ''));
  }
  assert.equal(pages.size, 1);
});

test('a network asks for 60 numbers in ten minutes', async () => {
  harness.clock.advance(60 * MINUTE_MS);
  const statuses = [];
  for (let i = 0; i < 61; i++) statuses.push((await verify(`1-aaaa-aaaa-aa${10 + i}`)).status);
  assert.deepEqual([statuses.slice(0, 60).every((one) => one === 404), statuses[60]], [true, 429]);
  assert.equal((await harness.request('/verify')).status, 200);
});

test('no address of a payment that was changed in the store itself says its money, in any status', async () => {
  await using changed = await startHarness('sqlite');
  const STATES = {
    pending: [],
    requires_review: ['submit'],
    approved: ['submit', 'approve'],
    rejected: ['submit', 'reject'],
    expired: ['expire'],
  };
  const numbers: string[] = [];
  const ids: string[] = [];
  for (const acts of Object.values(STATES)) {
    const { id } = await changed.create({ amount: 49.9, currency: 'EUR' });
    for (const act of acts) await changed.request(`/v1/test/payments/${id}/${act}`, { method: 'POST' });
    numbers.push(...(/\d+(?:-[0-9a-z]{4}){3}/.exec((await open(changed, id)).body) ?? []));
    ids.push(id);
  }
  const sayingIt = async () => {
    const answers = await Promise.all(
      ids.flatMap((id) =>
        [{}, { view: 'calendar' }, { view: 'code' }, { view: 'cancel' }].map((asked) =>
          open(changed, id, asked),
        ),
      ),
    );
    const texts = answers.map(({ body }) => body);
    for (const number of numbers) texts.push((await changed.request(`/verify?number=${number}`)).text);
    return texts.filter((text) => /49\.90|9,?999/.test(text)).length;
  };
  assert.ok((await sayingIt()) > ids.length);
  await editOutside(changed.store, "update payments set amount_minor = 999900, merchant_name = 'Evil Corp'");
  assert.equal(numbers.length, 1);
  assert.equal((await changed.request(`/verify?number=${numbers[0]}`)).status, 404);
  assert.equal((await open(changed, ids[2]!)).status, 403);
  assert.equal(await sayingIt(), 0);
});
