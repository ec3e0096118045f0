// A bookkeeper's month without a mouse: 60 lines imported, the certain ones approved, six odd ones cleared, in at most 30 keys.
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { creditorReference } from '../../../src/payments/methods/transfer/creditor-reference.ts';
import { findPayment } from '../../../src/payments/queries.ts';
import { submitPayment } from '../../../src/payments/submit.ts';
import { camt, type Entry, TRANSFERS, today } from '../../support/camt.ts';
import { loaded, startChromium } from '../../support/chromium.ts';
import { type Client, MANY_SIGN_INS, signIn } from '../../support/console.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

const LINES = 60;
const ODD = 6;
const KEYS_MAXIMUM = 30;

let harness: Harness;
let browser: Browser;
let ana: Client;
let file: Buffer;
const ids: string[] = [];
before(async () => {
  harness = await startHarness('sqlite', { configuration: MANY_SIGN_INS + TRANSFERS });
  const entries: Entry[] = [];
  for (let i = 0; i < LINES - 1; i++) {
    const amount = 20 + i;
    const { id } = await harness.create({ amount, currency: 'EUR', merchant_reference: `ORDER-${i}` });
    ids.push(id);
    if (i === 4) await announce(id);
    harness.service.database.refresh();
    const text = creditorReference((await findPayment(harness.service.database, id))!);
    const entry = { amount: amount.toFixed(2), bank: `B${i}`, text, name: 'Zoë Berg', day: today(harness) };
    entries.push({ ...entry, ...odd(i, amount, text) });
  }
  entries.push({ amount: '850.00', bank: 'RENT', text: 'Rent of the flat upstairs', day: today(harness) });
  file = camt(entries);
  ana = await signIn(harness);
  browser = await startChromium();
});
after(async () => {
  await browser?.close();
  await harness.close();
});

/** What is odd about the first five lines; the last line is for no payment. */
function odd(i: number, amount: number, text: string): Partial<Entry> {
  if (i === 0) return { amount: (amount - 1).toFixed(2) };
  if (i === 1) return { amount: (amount + 1).toFixed(2) };
  if (i === 2) return { text: `${text.slice(0, 12)}${text[12] === 'X' ? 'Y' : 'X'}${text.slice(13)}` };
  if (i === 3) return { text: `Thank you for ORDER-${i}` };
  return {};
}

/** The customer says that the money comes from somebody else than it does. */
const announce = (id: string) =>
  harness.service.journal.commit(
    (transaction) =>
      submitPayment(transaction, id, 'req_s', {
        method: 'bank_transfer',
        whole: { transfer_name: 'Otto Wolff' },
        masked: {},
        payer: { name: 'Otto Wolff', email: null, account: null },
      }),
    id,
  );

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
  // Asked for before the page opens: Chromium hands a chooser over only once it was told to, and a key can be faster than that.
  const chooser = page.waitForEvent('filechooser');
  await page.goto(`${harness.origin}/console/statements`);
  const keyboard = keyboardOf(page);
  const focused = (selector: string, text: string) =>
    page.locator(`${selector}:focus`, { hasText: text }).waitFor();
  await keyboard.lead('u');
  await page.locator('#files:focus').waitFor();
  await keyboard.press('Enter');
  await (await chooser).setFiles([{ name: 'a.xml', mimeType: 'text/xml', buffer: file }]);
  await keyboard.press('Tab', 'Tab');
  await keyboard.lead('Enter');
  await focused('a', 'See the lines');
  await keyboard.lead('Enter');
  await keyboard.lead('a');
  await focused('button', `Approve these ${LINES - ODD} payments`);
  await keyboard.lead('Enter');
  await focused('a', 'Go on with the others');
  await keyboard.lead('Enter');
  // The line without a payment came last in the file and is the first of the list.
  await keyboard.press('j');
  await keyboard.lead('o');
  await keyboard.press('i');
  await keyboard.paste('Rent: it has nothing to do with the shop');
  await keyboard.press('Tab');
  await keyboard.lead('Enter');
  await page.locator('.notice', { hasText: 'Ignored' }).waitFor();
  // Each decision leads to the next line that asks for a look.
  for (const why of ['Her brother paid', undefined, undefined, 'Returned 1.00', 'The bank took 1.00']) {
    if (why === undefined) await focused('button', 'Approve the payment');
    else {
      await page.locator('#note:focus').waitFor();
      await keyboard.paste(why);
    }
    await keyboard.lead('Enter');
    await page.locator('.notice', { hasText: 'Approved' }).waitFor();
  }
  await keyboard.lead('d');
  await focused('button', 'Download CSV');
  const download = page.waitForEvent('download');
  await keyboard.press('Enter');
  const csv = await text(await (await download).createReadStream());
  assert.equal(csv.trim().split('\n').length, LINES + 1);
  for (const told of ['Her brother paid', 'Rent: it has nothing to do with the shop'])
    assert.ok(csv.includes(told), told);
  t.diagnostic(`${keyboard.counts.keys} keys, ${keyboard.counts.pages} pages, and the choice of the file`);
  assert.ok(keyboard.counts.keys <= KEYS_MAXIMUM, `${keyboard.counts.keys} keys`);
  for (const id of ids)
    assert.equal((await harness.request(`/v1/payments/${id}`)).json.data.status, 'approved');
  await harness.verify();
});
