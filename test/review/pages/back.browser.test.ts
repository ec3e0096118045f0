// Going back after a form of the console that was refused: the browser finds the page with what was typed, and does nothing twice.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { consolePage, loaded, startChromium } from '../../support/chromium.ts';
import type { Client } from '../../support/console.ts';
import { shared } from '../../support/shared.ts';
import { people, sharedReview } from './review-stage.ts';

const harness = sharedReview('', false);
const browser = shared(startChromium);
let ana: Client;
before(async () => {
  ({ ana } = await people(harness));
});

test('a refused form, its correction, and back twice: no page is missing, nothing typed is lost, nothing is done twice.', async () => {
  const { id } = await harness.create({ amount: 20 });
  const page = await consolePage(browser, harness, ana, { javaScriptEnabled: false });
  const record = () => loaded(page, () => page.getByRole('button', { name: 'Record the money' }).click());
  await page.goto(`${harness.origin}/console/payments/${id}/record`);
  await page.getByLabel('Amount that arrived').fill('twenty');
  await page.getByLabel('Note').fill('At the counter');
  await record();
  await page.getByText('Amount must be a number like 49.90').first().waitFor();
  assert.equal(await page.getByLabel('Note').inputValue(), 'At the counter');
  await page.getByLabel('Amount that arrived').fill('20');
  await page
    .getByLabel('Day on which it arrived')
    .fill(new Date(harness.clock.now()).toISOString().slice(0, 10));
  await record();
  const done = await page.locator('main').innerText();
  assert.match(done, /At the counter/);
  await page.goBack();
  assert.match(await page.locator('main').innerText(), /must be a number/);
  assert.equal(await page.getByLabel('Note').inputValue(), 'At the counter');
  await page.getByLabel('Amount that arrived').fill('20');
  await page.goBack();
  assert.match(await page.locator('main').innerText(), /\$20\.00 USD is known/);
  await page.goForward();
  await page.goForward();
  assert.equal((await harness.request(`/v1/payments/${id}`)).json.data.amount_received, '20.00');
  await page.context().close();
});
