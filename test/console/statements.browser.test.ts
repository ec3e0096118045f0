// A bookkeeper's month without a mouse: 60 lines imported, the certain ones approved, six odd ones cleared, in at most 40 keys.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { creditorReference } from '../../src/methods/transfer/creditor-reference.ts';
import { findPayment } from '../../src/payments/queries.ts';
import { camt, type Entry, TRANSFERS, today } from '../support/camt.ts';
import { loaded, startChromium } from '../support/chromium.ts';
import { type Client, MANY_SIGN_INS, signIn } from '../support/console.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const LINES = 60;
const ODD = 6;
const KEYS_MAXIMUM = 40;

let harness: Harness;
let browser: Browser;
let ana: Client;
let file: Buffer;
const ids: string[] = [];
before(async () => {
  harness = await startHarness('sqlite', { configuration: MANY_SIGN_INS + TRANSFERS });
  const entries: Entry[] = [];
  for (let i = 0; i < LINES; i++) {
    const amount = 20 + i;
    const { id } = await harness.create({ amount, currency: 'EUR', merchant_reference: `A-${i}` });
    ids.push(id);
    harness.service.database.refresh();
    const text = creditorReference((await findPayment(harness.service.database, id))!);
    entries.push({
      amount: (i < ODD ? amount - 1 : amount).toFixed(2),
      bank: `B${i}`,
      text,
      name: 'Zoë Berg',
      day: today(),
    });
  }
  file = camt(entries);
  ana = await signIn(harness);
  browser = await startChromium();
});
after(async () => {
  await browser?.close();
  await harness.close();
});

/** A keyboard that counts keys and the pages that they lead to. Pasting is one key. */
function keyboardOf(page: Page) {
  const counts = { keys: 0, pages: 0 };
  return {
    counts,
    async press(...keys: string[]) {
      for (const key of keys) await page.keyboard.press(key);
      counts.keys += keys.length;
    },
    async lead(key: string) {
      counts.keys += 1;
      counts.pages += 1;
      await loaded(page, () => page.keyboard.press(key));
    },
    async paste(text: string) {
      counts.keys += 1;
      await page.keyboard.insertText(text);
    },
  };
}

test(`${LINES} lines are cleared in at most ${KEYS_MAXIMUM} keys`, async (t) => {
  const context = await browser.newContext();
  await context.addCookies([...ana.cookies].map(([name, value]) => ({ name, value, url: harness.origin })));
  const page = await context.newPage();
  await page.goto(`${harness.origin}/console/statements/import`);
  const keyboard = keyboardOf(page);
  await page.locator('#files:focus').waitFor();
  await page.locator('#files').setInputFiles([{ name: 'a.xml', mimeType: 'text/xml', buffer: file }]);
  await keyboard.press('Tab', 'Tab');
  await keyboard.lead('Enter');
  await page.locator('a:focus', { hasText: 'See the lines' }).waitFor();
  await keyboard.lead('Enter');
  await keyboard.lead('a');
  await page.locator('button:focus', { hasText: `Approve these ${LINES - ODD} payments` }).waitFor();
  await keyboard.lead('Enter');
  await page.locator('a:focus', { hasText: 'Go on with the others' }).waitFor();
  await keyboard.lead('Enter');
  for (let i = 0; i < ODD; i++) {
    await keyboard.press('j');
    await keyboard.lead('o');
    await page.locator('#note:focus').waitFor();
    await keyboard.paste('The bank took 1.00');
    await keyboard.lead('Enter');
    await page.locator('.notice', { hasText: 'Matched' }).waitFor();
  }
  t.diagnostic(`${keyboard.counts.keys} keys, ${keyboard.counts.pages} pages, and the choice of the file`);
  assert.ok(keyboard.counts.keys <= KEYS_MAXIMUM, `${keyboard.counts.keys} keys`);
  for (const id of ids)
    assert.equal((await harness.request(`/v1/payments/${id}`)).json.data.status, 'approved');
  await harness.verify();
});
