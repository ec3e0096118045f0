// The queue says that something new waits: by its script without a reload, and by a link without scripts.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { consolePage, loaded, startChromium } from '../../support/chromium.ts';
import { type Client, newClient } from '../../support/console.ts';
import { shared } from '../../support/shared.ts';
import { becomes } from '../../support/waiting.ts';
import { people, sharedReview, waiting } from './review-stage.ts';

const harness = sharedReview('', false);
const browser = shared(startChromium);
let ana: Client;
before(async () => {
  ({ ana } = await people(harness));
});

async function queueOf(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await consolePage(browser, harness, ana, options);
  await page.clock.install();
  await page.goto(`${harness.origin}/console${path}`);
  return page;
}

/** Moves the browser's clock to the moment at which the script asks, and waits for the answer. */
async function asked(page: Page): Promise<string> {
  const [response] = await Promise.all([page.waitForResponse(/\/queue\/new\?/), page.clock.runFor(20_000)]);
  return response.text();
}

test('A quiet line says how many payments came since the page was sent, by its filters, until it is shown anew.', async () => {
  const page = await queueOf('/queue');
  const cash = await queueOf('/queue?merchant=mer_cash');
  const line = page.locator('[data-news]');
  assert.equal(await asked(page), '0');
  assert.equal(await line.innerText(), '');
  harness.clock.advance(1000);
  await waiting(harness);
  await becomes('1', () => asked(page)); // time runs on: what it asked before may be answered only now
  await page.getByText('1 new payment', { exact: true }).waitFor();
  harness.clock.advance(1000);
  await waiting(harness);
  await becomes('2', () => asked(page));
  await page.getByText('2 new payments', { exact: true }).waitFor();
  assert.equal(await asked(cash), '0');
  assert.equal(await cash.locator('[data-news]').innerText(), '');
  await loaded(page, () => page.getByRole('link', { name: 'Refresh' }).click());
  assert.match(await page.locator('main').innerText(), /2 payments/);
  assert.equal(await asked(page), '0');
  assert.equal(await line.innerText(), '');
  for (const one of [page, cash]) await one.context().close();
});

test('What the script asks keeps no session alive, and is answered to nobody who is not signed in.', async () => {
  const address = '/queue/new?sent_after=0';
  harness.clock.advance(5 * 60_000);
  const [asked, opened] = [await ana.get(address), await newClient(harness).get(address)];
  assert.deepEqual([asked.text, asked.headers.get('set-cookie')], ['2', null]);
  assert.match(opened.h1, /Sign in/);
  assert.match(opened.headers.get('content-type')!, /^text\/html/);
  assert.match((await ana.get('/queue')).headers.get('set-cookie') ?? '', /session/);
  for (const wrong of ['', '?sent_after=', '?sent_after=-1', '?sent_after=x'])
    assert.equal((await ana.get(`/queue/new${wrong}`)).status, 422, wrong);
});
