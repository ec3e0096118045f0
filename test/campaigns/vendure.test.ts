// A real shop from npm takes payments with packages/vendure: from the basket to "paid" in Chromium, and every trap on the way.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { addPerson, post } from '../support/admin.ts';
import { loaded, startChromium } from '../support/chromium.ts';
import { ROOT } from '../support/command.ts';
import { MANY_SIGN_INS, signIn } from '../support/console.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { METHODS } from '../support/shop.ts';
import { ENGINES, type Store, temporaryStore } from '../support/stores.ts';
import { becomes, until } from '../support/waiting.ts';
import { assertClean, Installation } from './published.ts';
import { CANDLE, idOf, LAMP, type Shopper, VendureSite } from './vendure-site.ts';

/** How many webhooks of one approval arrive together. */
const COPIES = 12;

const installation = new Installation();
await installation.install(...['@vendure/core@3', 'sql.js', 'pg'], await installation.pack('client'));
const skip = installation.unreached ?? false;
const vendure = skip ? '' : await installation.pack('vendure');
if (!skip) await installation.install(vendure);
after(() => installation.remove());

test('publint and Are The Types Wrong find nothing in the package, and its README has right types.', {
  skip,
}, async () => {
  await assertClean(vendure);
  const readme = readFileSync(join(ROOT, 'packages/vendure/README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text]) => text!);
  assert.equal(blocks.length, 2);
  const files = blocks.map((text, at) => {
    const file = `readme-${at}.ts`;
    writeFileSync(join(installation.folder, file), text);
    return file;
  });
  const options = '--noEmit --strict --skipLibCheck --target es2022 --module nodenext --types node';
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...files, ...options.split(' ')], {
    cwd: installation.folder,
    encoding: 'utf8',
  });
});

test('amounts are Vendure’s, with its decimals for every currency.', { skip }, async () => {
  const { amountText, unitsOf } = await import(
    join(installation.folder, 'node_modules/@counterfoil/vendure/dist/cart.js')
  );
  for (const [units, precision, amount] of [
    [4990, 2, '49.90'],
    [150000, 2, '1500'],
    [5, 2, '0.05'],
    [0, 2, '0'],
    [49900, 3, '49.90'],
    [1500, 0, '1500'],
  ] as const) {
    assert.equal(amountText(units, precision), amount);
    assert.equal(unitsOf(amount, precision), units);
  }
  assert.equal(amountText(12345, 3), '12.345'); // the client refuses it
  assert.deepEqual([unitsOf('1500.00', 2), unitsOf('1500.00', 0)], [150000, 1500]);
  assert.ok(Number.isNaN(unitsOf('0.05', 1)));
});

for (const engine of ENGINES)
  describe(`a shop that keeps its orders ${engine === 'sqlite' ? 'in memory' : 'in PostgreSQL'}`, {
    skip,
  }, () => {
    let harness: Harness;
    let store: Store;
    let site: VendureSite;
    before(async () => {
      harness = await startHarness('sqlite', { configuration: MANY_SIGN_INS + METHODS });
      store = await temporaryStore(engine);
      site = await VendureSite.start(installation, harness, store.database_url ?? '');
    });
    after(async () => {
      await site?.stop();
      await store?.drop();
      await harness.close();
    });

    const becomesPaid = (code: string) =>
      becomes('PaymentSettled', async () => (await site.order(code)).state);
    /** The payments of an order as `[state, Counterfoil's id]`. */
    const paymentsOf = async (code: string) =>
      (await site.order(code)).payments.map((one: { state: string; transactionId: string }) => [
        one.state,
        one.transactionId,
      ]);
    const statusOf = async (id: string) => (await site.client.payments.read(id)).status;

    test('an order is bought, paid at checkout, approved by a person, and paid, in a browser.', async () => {
      await using browser = await startChromium();
      const customer = await (await browser.newContext({ locale: 'en' })).newPage();
      await customer.goto(site.storefront);
      await loaded(customer, () => customer.getByRole('button', { name: 'Buy a lamp' }).click());
      const id = idOf(customer.url());
      const { return_url, amount, merchant_reference } = await site.client.payments.read(id);
      assert.equal(amount, '64.38'); // 49.90 with 19 % of tax, and 5.00 for the parcel
      const says = async (sentence: string) => {
        await customer.goto(return_url!);
        await customer.getByRole('status').getByText(sentence).waitFor();
      };
      await says('Please pay for your order.');
      const payment = await site.client.payments.read(id);
      await customer.goto(payment.checkout_url);
      await customer.locator('#card-number').fill('4242 4242 4242 4242');
      await customer.locator('#card-expiry').fill('12/40');
      await loaded(customer, () => customer.locator('form:visible button.primary').click());
      await says('Your payment is being checked. You need not do anything.');
      assert.equal((await site.order(merchant_reference!)).payments.length, 0);

      const ana = await signIn(harness);
      const console = await browser.newContext({ javaScriptEnabled: false });
      const cookies = [...ana.cookies].map(([name, value]) => ({ name, value, url: harness.origin }));
      await console.addCookies(cookies);
      const reviewer = await console.newPage();
      await reviewer.goto(`${harness.origin}/console`);
      await loaded(reviewer, () => reviewer.getByRole('link', { name: 'Review', exact: true }).click());
      await loaded(reviewer, () => reviewer.locator(`a[href*="${id}"]`).first().click());
      await loaded(reviewer, () => reviewer.getByRole('link', { name: /^Approve/ }).click());
      await loaded(reviewer, () => reviewer.getByRole('button', { name: /^Approve/ }).click());
      await becomesPaid(merchant_reference!);
      await says('Thank you. Your order is paid.');
      assert.deepEqual(await paymentsOf(merchant_reference!), [['Settled', id]]);
    });

    test('a customer who adds a payment by themselves gets nothing, whatever id they know.', async () => {
      const paid = await site.newShopper().order();
      await site.approve(paid.id);
      await becomesPaid(paid.code);
      const shopper = site.newShopper();
      const { code, id } = await shopper.order();
      await site.call(false);
      const other = await site.newShopper().order();
      await site.approve(other.id);
      for (const known of [id, paid.id, other.id, 'pay_invented', undefined, 1])
        await assert.rejects(
          shopper.addPayment('counterfoil', { payment_id: known }),
          /createCounterfoilPayment/,
        );
      const order = await site.order(code);
      assert.deepEqual([order.state, order.payments], ['ArrangingPayment', []]);
      await site.call(true);
      await becomesPaid(other.code);
    });

    test('only what Counterfoil signed is believed.', async () => {
      const { code, id } = await site.newShopper().order();
      await site.client.testPayments.submit(id);
      const claim = site.approvalOf({ id, merchant_reference: code });
      const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
      assert.deepEqual(
        [
          await site.post(claim, { secret }),
          await site.post(claim, { sent: claim.replace('approved', 'approve\\u0064') }),
          await site.post(''),
          await site.post('x'.repeat(65_000), { secret }),
          await site.post('x'.repeat(66_000)),
          await site.deliver(claim), // signed, and yet the payment is not approved
        ],
        [400, 400, 500, 400, 413, 204],
      );
      assert.deepEqual((await site.order(code)).payments, []);
    });

    test('webhooks that race, come twice, or come after the order was shipped do one thing.', async () => {
      const { code, id } = await site.newShopper().order();
      await site.call(false);
      await site.approve(id);
      const copies = Array.from({ length: COPIES }, () => site.approvalOf({ id, merchant_reference: code }));
      const answers = await Promise.all(copies.map((copy) => site.deliver(copy)));
      assert.deepEqual(new Set(answers), new Set([204]));
      const before = await site.order(code);
      assert.deepEqual([before.state, await paymentsOf(code)], ['PaymentSettled', [['Settled', id]]]);
      const { lines } = before;
      const handler = { code: 'manual-fulfillment', arguments: [{ name: 'method', value: 'Parcel' }] };
      const input = { lines: [{ orderLineId: lines[0].id, quantity: 1 }], handler };
      const fulfil =
        'mutation ($input: FulfillOrderInput!) { addFulfillmentToOrder(input: $input) { ... on Fulfillment { id } } }';
      const { addFulfillmentToOrder } = await site.staff.ask(fulfil, { input });
      const ship =
        'mutation ($id: ID!) { transitionFulfillmentToState(id: $id, state: "Shipped") { __typename } }';
      await site.staff.ask(ship, { id: addFulfillmentToOrder.id });
      assert.equal(await site.deliver(copies[0]!), 204);
      assert.equal(await site.deliver(site.approvalOf({ id, merchant_reference: code })), 204);
      await site.call(true); // and what Counterfoil had kept
      const after = await site.order(code);
      assert.deepEqual([after.state, after.notes], ['Shipped', []]);
      assert.deepEqual(await paymentsOf(code), [['Settled', id]]);
    });

    test('a webhook that finds Counterfoil away is refused, and comes again.', async () => {
      const { code, id } = await site.newShopper().order();
      await site.call(false);
      await site.approve(id);
      await site.way.begin({ kind: 'refuse' });
      assert.equal(await site.post(site.approvalOf({ id, merchant_reference: code })), 500);
      assert.deepEqual((await site.order(code)).payments, []);
      await site.way.heal();
      await site.call(true);
      await becomesPaid(code);
    });

    test('a cart that changed gets another link, and the old one is cancelled.', async () => {
      const shopper = site.newShopper();
      const { code, id } = await shopper.order();
      assert.equal(idOf((await shopper.link()).checkoutUrl), id);
      await shopper.goBack();
      await shopper.add(CANDLE);
      assert.equal((await shopper.state(code)).state, 'ENDED');
      const [one, two] = await Promise.all([shopper.link(), shopper.link()]);
      const next = idOf(one.checkoutUrl);
      assert.deepEqual([idOf(two.checkoutUrl), await statusOf(id)], [next, 'cancelled']);
      await site.approve(next);
      await becomesPaid(code);
      assert.deepEqual(await paymentsOf(code), [['Settled', next]]);
    });

    test('a cart of the same price is not paid by the money of another; staff is told once, and nobody is asked twice.', async () => {
      const shopper = site.newShopper();
      const { code, id } = await shopper.order(LAMP);
      await site.client.testPayments.submit(id);
      await shopper.goBack();
      await change(shopper, CANDLE);
      const asked = await shopper.link();
      assert.deepEqual([asked.state, asked.checkoutUrl], ['CHECKING', null]);
      await site.client.testPayments.approve(id);
      await becomes('ATTENTION', async () => (await shopper.state(code)).state);
      await until(
        () => site.order(code),
        ({ notes }) => notes.length === 1,
      );
      const copies = Array.from({ length: 3 }, () => site.approvalOf({ id, merchant_reference: code }));
      assert.deepEqual(await Promise.all(copies.map((copy) => site.deliver(copy))), [204, 204, 204]);
      const order = await site.order(code);
      assert.deepEqual([order.state, order.payments], ['ArrangingPayment', []]);
      assert.equal(order.notes.length, 1);
      assert.match(order.notes[0], /64\.38 USD came, and the cart was changed/);
      assert.equal(site.printed.split(`money ${id}`).length, 2);
      assert.equal((await shopper.link()).checkoutUrl, null);
      // The customer puts back what they paid for.
      await shopper.goBack();
      await change(shopper, LAMP);
      assert.equal((await shopper.link()).state, 'PAID');
      await becomesPaid(code);
    });

    test('less money than was asked for pays nothing.', async () => {
      const shopper = site.newShopper();
      const { code, id } = await shopper.order();
      const ana = await addPerson(harness, 'administrator');
      const received_on = new Date(harness.clock.now()).toISOString().slice(0, 10);
      const recorded = await post(harness, ana, `/admin/payments/${id}/record`, {
        amount: 64.37,
        received_on,
      });
      assert.equal(recorded.status, 200, recorded.text);
      assert.equal((await post(harness, ana, `/admin/payments/${id}/approve`, {})).status, 200);
      const { notes } = await until(
        () => site.order(code),
        ({ notes }) => notes.length > 0,
      );
      assert.match(notes[0], /only 64\.37 USD came/);
      assert.equal((await shopper.state(code)).state, 'ATTENTION');
    });

    test('an order that is paid otherwise, or cancelled, takes its link with it; money that comes yet is told.', async () => {
      const one = site.newShopper();
      const voucher = await one.order();
      assert.equal((await one.addPayment('voucher', {})).state, 'PaymentSettled');
      await becomes('cancelled', () => statusOf(voucher.id));
      const cancelled = await site.newShopper().order();
      const { id } = await site.order(cancelled.code);
      await site.staff.ask('mutation ($id: ID!) { cancelOrder(input: { orderId: $id }) { __typename } }', {
        id,
      });
      await becomes('cancelled', () => statusOf(cancelled.id));
      for (const { code, id } of [voucher, cancelled]) {
        await site.client.testPayments.record(id);
        await site.client.testPayments.approve(id);
        const { notes } = await until(
          () => site.order(code),
          ({ notes }) => notes.length > 0,
        );
        assert.match(notes[0], /the order is (PaymentSettled|Cancelled) already/);
      }
    });

    test('a customer cancels the link, but not what is being checked; after a rejection there is another.', async () => {
      const shopper = site.newShopper();
      const { code, id } = await shopper.order();
      const cancel = async () =>
        (await shopper.ask('mutation { cancelCounterfoilPayment { state } }')).cancelCounterfoilPayment.state;
      assert.deepEqual([await cancel(), await statusOf(id)], ['ENDED', 'cancelled']);
      const second = idOf((await shopper.link()).checkoutUrl);
      assert.notEqual(second, id);
      await site.client.testPayments.submit(second);
      assert.deepEqual([await cancel(), await statusOf(second)], ['CHECKING', 'requires_review']);
      await assert.rejects(site.newShopper().state(code), /not currently authorized/);
      await site.client.testPayments.reject(second, { reason: 'other', message: 'Nothing has come.' });
      const { state, reviewMessage } = await shopper.state(code);
      assert.deepEqual([state, reviewMessage], ['REJECTED', 'Nothing has come.']);
      assert.equal((await shopper.link()).state, 'OPEN');
    });

    test('a refund waits for staff, who are told what to do; a settled payment is not cancelled.', async () => {
      const { code, id } = await site.newShopper().order();
      await site.approve(id);
      await becomesPaid(code);
      const [payment] = (await site.order(code)).payments;
      const refund =
        'mutation ($input: RefundOrderInput!) { refundOrder(input: $input) { ... on Refund { state } } }';
      const input = {
        lines: [],
        shipping: 0,
        adjustment: 0,
        amount: 1000,
        paymentId: payment.id,
        reason: 'late',
      };
      assert.equal((await site.staff.ask(refund, { input })).refundOrder.state, 'Pending');
      const { notes } = await until(
        () => site.order(code),
        ({ notes }) => notes.length > 0,
      );
      assert.match(notes[0], /cannot return money\. Return 10 USD .*settle this refund/);
      const cancel =
        'mutation ($id: ID!) { cancelPayment(id: $id) { ... on CancelPaymentError { paymentErrorMessage } } }';
      const { cancelPayment } = await site.staff.ask(cancel, { id: payment.id });
      assert.match(cancelPayment.paymentErrorMessage, /cannot be cancelled/);
      assert.deepEqual(await paymentsOf(code), [['Settled', id]]);
    });

    /** Leaves one product of this kind in the basket, and nothing else. */
    async function change(shopper: Shopper, variant: number): Promise<void> {
      await shopper.ask('mutation { removeAllOrderLines { __typename } }');
      await shopper.add(variant);
      await shopper.ship();
    }
  });
