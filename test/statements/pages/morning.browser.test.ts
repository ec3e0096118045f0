// A bookkeeper's morning without a mouse: 60 lines, 16 of them tidy and 44 odd in every way, in at most 90 keys.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { creditorReference } from '../../../src/payments/methods/transfer/creditor-reference.ts';
import { findPayment } from '../../../src/payments/queries.ts';
import { lineSums } from '../../../src/statements/line-queries.ts';
import { camt, type Entry, TRANSFERS, today } from '../../support/camt.ts';
import { loaded, startChromium } from '../../support/chromium.ts';
import { MANY_SIGN_INS, signIn } from '../../support/console.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

const KEYS_MAXIMUM = 90;

let harness: Harness;
let browser: Browser;
before(async () => {
  harness = await startHarness('sqlite', { configuration: MANY_SIGN_INS + TRANSFERS });
  browser = await startChromium();
});
after(async () => {
  await browser?.close();
  await harness.close();
});

let made = 0;

/** A payment and the transfer that pays it exactly. */
async function paid(more: Partial<Entry> = {}, currency = 'EUR'): Promise<Entry> {
  const amount = 20 + made;
  const order = { amount, currency, merchant_reference: `ORDER-${made}` };
  const { id } = await harness.create(order);
  harness.service.database.refresh();
  const text = creditorReference((await findPayment(harness.service.database, id))!);
  return {
    amount: amount.toFixed(2),
    bank: `M${made++}`,
    text,
    name: 'Zoë Berg',
    day: today(harness),
    ...more,
  };
}

const other = (more: Partial<Entry>): Entry => ({
  amount: '1.00',
  bank: `M${made++}`,
  day: today(harness),
  ...more,
});

/** A letter of a reference that was typed wrongly. */
const wrong = (text: string) => `${text.slice(0, 12)}${text[12] === 'X' ? 'Y' : 'X'}${text.slice(13)}`;
const less = (amount: string, by: number) => (Number(amount) - by).toFixed(2);

async function morning(): Promise<Entry[]> {
  const entries: Entry[] = [];
  const add = async (count: number, change: (entry: Entry, i: number) => Partial<Entry>) => {
    for (let i = 0; i < count; i++) {
      const entry = await paid();
      entries.push({ ...entry, ...change(entry, i) });
    }
  };
  await add(16, () => ({}));
  await add(8, ({ text }) => ({ text: wrong(text!) }));
  await add(5, ({ text }) => ({ text: text!.slice(0, 15) }));
  await add(5, () => ({ text: `Thank you for ORDER-${made - 1}` }));
  await add(4, ({ amount }) => ({ amount: less(amount, 1.5) }));
  for (let i = 0; i < 3; i++) {
    const [one, two] = [await paid(), await paid()];
    entries.push({
      ...one,
      amount: (Number(one.amount) + Number(two.amount)).toFixed(2),
      text: `${one.text} ${two.text}`,
    });
  }
  for (let i = 0; i < 2; i++) {
    const whole = await paid();
    entries.push(
      { ...whole, amount: '5.00' },
      { ...whole, bank: `${whole.bank}b`, amount: less(whole.amount, 5) },
    );
  }
  const returned = await paid();
  entries.push(returned, { ...returned, bank: `${returned.bank}r`, direction: 'DBIT', reversal: true });
  for (let i = 0; i < 2; i++) {
    const dollars = await paid({}, 'USD');
    entries.push({ ...dollars, amount: (Number(dollars.amount) * 0.9).toFixed(2) });
  }
  for (let i = 0; i < 2; i++)
    entries.push(other({ amount: `91${i}.00`, name: `Joe Bloggs ${i}`, text: `Invoice ${i} of USD 990` }));
  for (let i = 0; i < 5; i++)
    entries.push(other({ amount: `85${i}.00`, name: 'Rita Rent', text: 'Rent of the flat' }));
  for (let i = 0; i < 4; i++)
    entries.push(other({ amount: `94${i}.00`, name: 'PAYPAL EUROPE', text: `Payout ${i}` }));
  return entries;
}

test(`a morning of 60 lines takes at most ${KEYS_MAXIMUM} keys`, async (t) => {
  const entries = await morning();
  assert.equal(entries.length, 60);
  const ana = await signIn(harness);
  const context = await browser.newContext();
  await context.addCookies([...ana.cookies].map(([name, value]) => ({ name, value, url: harness.origin })));
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const chooser = page.waitForEvent('filechooser');
  await page.goto(`${harness.origin}/console/statements`);
  let keys = 0;
  const press = async (...names: string[]) => {
    for (const name of names) await page.keyboard.press(name);
    keys += names.length;
  };
  const lead = async (name: string) => {
    keys += 1;
    await loaded(page, () => page.keyboard.press(name));
  };
  const paste = async (text: string) => {
    keys += 1;
    await page.keyboard.insertText(text);
  };
  const focused = (selector: string) => page.locator(`${selector}:focus`).waitFor();
  await lead('u');
  await focused('#files');
  await press('Enter');
  await (await chooser).setFiles([{ name: 'a.xml', mimeType: 'text/xml', buffer: camt(entries) }]);
  await press('Tab', 'Tab');
  await lead('Enter');
  await focused('a');
  await lead('Enter');
  await lead('a');
  await focused('button');
  await lead('Enter');
  await focused('a');
  await lead('Enter');
  await press('j');
  await lead('o');
  const ways: Record<string, number> = {};
  for (let lines = 0; lines < 60 && /\/lines\//.test(page.url()); lines++) {
    const way = await wayOn(page);
    ways[way] = (ways[way] ?? 0) + 1;
    if (way === 'rule' || way === 'ignore') {
      await press('i');
      await paste('No payment is meant');
      await press('Tab', ...(way === 'rule' ? ['Tab'] : []));
    } else if (way === 'note') await paste('Her bank took a fee');
    await lead('Enter');
  }
  await context.close();
  harness.service.database.refresh();
  const sums = await lineSums(harness.service.database);
  const states = Object.entries(Object.groupBy(sums, ({ state }) => state)).map(
    ([state, some]) => `${state} ${some!.reduce((sum, { count }) => sum + Number(count), 0)}`,
  );
  t.diagnostic(`${keys} keys; ${JSON.stringify(ways)}; ${states.join(', ')}`);
  assert.ok(keys <= KEYS_MAXIMUM, `${keys} keys`);
  assert.ok(
    !sums.some(({ state, direction }) => state === 'open' && direction === 'credit'),
    states.join(', '),
  );
  await harness.verify();
});

/** What a bookkeeper does with a line: presses the button that has the focus, says why first, or ignores it, by a rule where it comes again. */
async function wayOn(page: Page): Promise<'button' | 'note' | 'rule' | 'ignore'> {
  await page.waitForLoadState();
  if ((await page.locator('#note:focus').count()) > 0) return 'note';
  if ((await page.locator('button:focus').count()) > 0) return 'button';
  const text = await page.locator('main').innerText();
  return /Rita Rent|PAYPAL/.test(text) ? 'rule' : 'ignore';
}
