// The console's review pages in a real browser: by keys alone, and without scripts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { people, startReview, statusOf, waiting } from '../../review/pages/review-stage.ts';
import { jump, loaded, startChromium, tabTo } from '../../support/chromium.ts';
import type { Client } from '../../support/console.ts';
import type { Harness } from '../../support/harness.ts';
import { createAt } from '../../support/shop.ts';

let harness: Harness;
let browser: Browser;
let who: Awaited<ReturnType<typeof people>>;
before(async () => {
  harness = await startReview();
  who = await people(harness);
  await waiting(harness);
  await waiting(harness);
  browser = await startChromium();
});
after(async () => {
  await browser?.close();
  await harness.close();
});

/** A page of whoever `client` is. */
async function pageOf(client: Client, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  await context.addCookies(
    [...client.cookies].map(([name, value]) => ({ name, value, url: harness.origin })),
  );
  return context.newPage();
}

test('By keys alone a payment is approved from the queue with its button, which Enter in the bank reference does not press, and the next is open.', async () => {
  const page = await pageOf(who.ana);
  await page.goto(`${harness.origin}/console/queue`);
  await page.keyboard.press('j');
  const focused = await page.evaluate('document.activeElement.href');
  const id = new URL(String(focused)).searchParams.get('open')!;
  await Promise.all([page.waitForURL(/open=/), page.keyboard.press('o')]);
  await Promise.all([page.waitForURL(/\/approve/), page.keyboard.press('a')]);
  assert.equal(await statusOf(harness, id), 'requires_review');
  await page.locator('button.primary:focus').waitFor();
  for (const _ of ['note', 'bank reference']) await page.keyboard.press('Shift+Tab');
  await page.locator('#bank_reference:focus').waitFor();
  await page.keyboard.type('2026-11-23/77');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(300);
  assert.match(page.url(), /\/approve/);
  assert.equal(await statusOf(harness, id), 'requires_review');
  for (const _ of ['note', 'button']) await page.keyboard.press('Tab');
  await Promise.all([page.waitForURL(/done=/), page.keyboard.press('Enter')]);
  assert.equal(await statusOf(harness, id), 'approved');
  assert.match(await page.locator('.notice[role=status]').innerText(), /^Approved by you/);
  await page.context().close();
});

for (const javaScriptEnabled of [true, false])
  test(`The decision is five stops of Tab away, and a and Enter approve, ${javaScriptEnabled ? 'with' : 'without'} scripts.`, async () => {
    const id = await waiting(harness, 'transfer', { merchant_reference: 'STOPS' });
    const page = await pageOf(who.ana, { javaScriptEnabled });
    await page.goto(`${harness.origin}/console/queue?open=${id}`);
    await page.keyboard.press('Tab');
    await jump(page, () => page.keyboard.press('Enter'));
    let stops = 1;
    for (; !(await page.locator('a[data-key="a"]:focus').count()); stops++) await page.keyboard.press('Tab');
    assert.ok(stops <= 5, `${stops} stops`);
    await loaded(page, () => page.keyboard.press(javaScriptEnabled ? 'a' : 'Enter'));
    if (!javaScriptEnabled) await tabTo(page, 'button.primary');
    await page.locator('button.primary:focus').waitFor();
    const button = await page.locator('button.primary').boundingBox();
    assert.ok(button && button.y + button.height <= 800, 'nothing is scrolled away');
    await loaded(page, () => page.keyboard.press('Enter'));
    assert.equal(await statusOf(harness, id), 'approved');
    await page.context().close();
  });

test('Keys go on from the payment that is open, and lead to the one behind and before it.', async () => {
  for (let i = 0; i < 2; i++) await waiting(harness);
  const page = await pageOf(who.ana);
  await page.goto(`${harness.origin}/console/queue`);
  const rows = page.locator('[data-key-row]');
  const id = async (nth: number) => /open=(pay_\w+)/.exec((await rows.nth(nth).getAttribute('href'))!)![1]!;
  const [first, second] = [await id(0), await id(1)];
  await loaded(page, () => page.keyboard.press('n'));
  assert.ok(page.url().includes(second));
  await page.locator('#open:focus').waitFor();
  await page.keyboard.press('k');
  assert.ok(((await page.evaluate('document.activeElement.href')) as string).includes(first));
  await loaded(page, () => page.keyboard.press('p'));
  assert.ok(page.url().includes(first));
  assert.match(await page.locator('.step-line nav').innerText(), /^1 of \d+$/);
  await page.context().close();
});

for (const javaScriptEnabled of [true, false])
  test(`By keys alone money is recorded on a pending payment, ${javaScriptEnabled ? 'with' : 'without'} scripts.`, async () => {
    const { id } = await createAt(harness, 'transfer');
    const page = await pageOf(who.bob, { javaScriptEnabled });
    await page.goto(`${harness.origin}/console/payments/${id}`);
    await loaded(page, async () => {
      if (javaScriptEnabled) return page.keyboard.press('m');
      await tabTo(page, 'a[data-key="m"]');
      return page.keyboard.press('Enter');
    });
    await tabTo(page, '#amount');
    await page.keyboard.type('49.90');
    await tabTo(page, '#received_on');
    await page.keyboard.type('11202024');
    await tabTo(page, 'button.primary');
    await loaded(page, () => page.keyboard.press('Enter'));
    assert.match(await page.locator('main').innerText(), /To review[\s\S]*Money that/);
    assert.equal(await statusOf(harness, id), 'requires_review');
    await page.context().close();
  });

test('A page warns two minutes before its session ends, and staying signed in takes the warning away.', async () => {
  const page = await pageOf(who.bob);
  await page.clock.install();
  await page.goto(`${harness.origin}/console/queue`);
  const warning = page.locator('.ending');
  const left = Number(await warning.getAttribute('data-left'));
  harness.clock.advance(left * 1000);
  await page.clock.runFor((left + 1) * 1000);
  await warning.getByText('You will be signed out').waitFor();
  await warning.getByRole('link', { name: 'Stay signed in' }).click();
  await warning.waitFor({ state: 'hidden' });
  await page.context().close();
});
