// Going back after a form that was refused: a browser finds a page, and not that a form would have to be sent again.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { loaded, startChromium } from '../support/chromium.ts';
import { type CheckoutPage, FROM_OUR_PAGE, load, open, TYPED } from '../support/customer.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { createAt, SHOP } from '../support/shop.ts';

/** Sends a page's form as a browser does that navigates; `fetch` writes `Sec-Fetch-Mode` itself. */
function navigate(page: CheckoutPage, typed: Record<string, string>) {
  const { action, values } = page.forms[0]!;
  const body = new URLSearchParams({ ...values, ...typed }).toString();
  const headers = {
    ...FROM_OUR_PAGE,
    'sec-fetch-mode': 'navigate',
    'content-type': 'application/x-www-form-urlencoded',
  };
  return new Promise<{ status: number; location: string | undefined }>((resolve, reject) => {
    const sent = request(action, { method: 'POST', headers }, (response) => {
      response
        .resume()
        .on('end', () => resolve({ status: response.statusCode!, location: response.headers.location }));
    });
    sent.on('error', reject).end(body);
  });
}

let harness: Harness;
let browser: Browser;
before(async () => {
  harness = await startHarness('sqlite', { configuration: SHOP });
  browser = await startChromium();
});
after(async () => {
  await browser.close();
  await harness.close();
});

test('after a fault, its correction and going back, the browser shows the form with what was typed.', async () => {
  const { id } = await createAt(harness, 'details');
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(`${harness.origin}/payment.php?payment_id=${id}`);
  await page.fill('[name=payer-name]', 'Ada Lovelace');
  await page.fill('[name=payer-email]', 'ada');
  await loaded(page, () => page.click('form button.primary'));
  assert.match(await page.innerText('body'), /address must look/);
  assert.equal(await page.inputValue('[name=payer-name]'), 'Ada Lovelace');
  await page.fill('[name=payer-email]', 'ada@example.org');
  await loaded(page, () => page.click('form button.primary'));
  assert.match(await page.innerText('h1'), /your contact details/);
  const back = await page.goBack();
  assert.ok(back && back.status() < 500, 'a page was there to go back to');
  assert.match(await page.innerText('h1'), /your contact details/);
});

test('the address tells nothing of what was typed, and opens for its own payment alone.', async () => {
  const { id } = await createAt(harness, 'transfer');
  const refused = await navigate(await open(harness, id), {
    ...TYPED.transfer,
    'payer-email': 'countess.of.lovelace',
  });
  assert.equal(refused.status, 303);
  const location = new URL(refused.location!, harness.origin);
  assert.equal(location.hash, '#errors');
  assert.doesNotMatch(decodeURIComponent(location.href), /countess|lovelace/i);
  const shown = await load(location);
  assert.equal(shown.status, 422);
  assert.equal(shown.forms[0]!.values['payer-email'], 'countess.of.lovelace');
  const other = await createAt(harness, 'transfer');
  location.searchParams.set('payment_id', other.id);
  const strange = await load(location);
  assert.deepEqual([strange.status, strange.forms[0]!.values['payer-email']], [200, '']);
});

test('what is typed of a card is never carried, and neither is too much.', async () => {
  const card = await navigate(await open(harness, (await createAt(harness, 'card')).id), {
    'card-number': '1',
  });
  assert.equal(card.status, 422);
  const { id } = await createAt(harness, 'details');
  const long = await navigate(await open(harness, id), { ...TYPED.details, note: 'x'.repeat(9000) });
  assert.equal(long.status, 422);
});
