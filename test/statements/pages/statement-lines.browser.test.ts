// Ten lines as bank statements show them: each leads to its payment by at most five keys and no mouse, in the queue and in all payments.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import {
  creditorReference,
  grouped,
  qrReference,
} from '../../../src/payments/methods/transfer/creditor-reference.ts';
import { findPayment } from '../../../src/payments/queries.ts';
import { startReview, waiting } from '../../review/pages/review-stage.ts';
import { loaded, startChromium } from '../../support/chromium.ts';
import { type Client, signIn } from '../../support/console.ts';
import type { Harness } from '../../support/harness.ts';

const KEYS_MAXIMUM = 5;

let harness: Harness;
let browser: Browser;
let ana: Client;
/** The payment that each line means. Others of the same merchant wait beside it. */
let wanted: string;
before(async () => {
  harness = await startReview();
  const other = async (amount: number) => {
    await waiting(harness, 'transfer', { amount, currency: 'EUR', merchant_reference: `INV-${amount}` });
    harness.clock.advance(60_000);
  };
  await other(49.9);
  wanted = await waiting(
    harness,
    'transfer',
    { amount: 1200, currency: 'EUR', merchant_reference: 'INV-2026-0042' },
    { 'transfer-name': 'Jörg Müller-Abt', 'transfer-iban': 'DE89 3704 0044 0532 0130 00' },
  );
  harness.clock.advance(60_000);
  await other(1200.5);
  ana = await signIn(harness, 'administrator', 'Ana');
  browser = await startChromium();
});
after(async () => {
  await browser?.close();
  await harness.close();
});

async function linesOf(id: string): Promise<Record<string, string>> {
  const payment = (await findPayment(harness.service.database, id))!;
  const reference = creditorReference(payment);
  return {
    'end-to-end reference': `EREF+${reference}`,
    'purpose with the reference inside': `SVWZ+Rechnung 42 ${reference} Danke`,
    'reference cut after 12 characters': reference.slice(0, 12),
    'lower case': reference.toLowerCase(),
    'in groups': `  ${grouped(reference)} `,
    'payer’s name': 'GUTSCHRIFT 20.11. MUELLER ABT, JOERG',
    'payer’s account': 'IBAN: DE89 3704 0044 0532 0130 00 BIC: COBADEFFXXX',
    amount: '1.200,00',
    'QR reference': `QRR ${grouped(qrReference(payment))}`,
    'merchant’s reference': 'SVWZ+INV-2026-0042 DANKE',
  };
}

/** A keyboard that counts. Pasting is one key. */
function keyboardOf(page: Page) {
  let keys = 0;
  return {
    get keys() {
      return keys;
    },
    press(key: string) {
      keys++;
      return page.keyboard.press(key);
    },
    paste(text: string) {
      keys++;
      return page.keyboard.insertText(text);
    },
  };
}

for (const list of ['queue', 'payments'])
  test(`Each of ten lines opens its payment from the ${list} in at most ${KEYS_MAXIMUM} keys.`, async () => {
    const lines = Object.entries(await linesOf(wanted));
    assert.equal(lines.length, 10);
    const context = await browser.newContext();
    await context.addCookies([...ana.cookies].map(([name, value]) => ({ name, value, url: harness.origin })));
    const page = await context.newPage();
    const counts: Record<string, number> = {};
    for (const [name, line] of lines) {
      await page.goto(`${harness.origin}/console/${list}`);
      const keyboard = keyboardOf(page);
      await keyboard.press('/');
      await keyboard.paste(line);
      await loaded(page, () => keyboard.press('Enter'));
      assert.equal(await page.locator('[data-key-row]').count(), 1, `${name}: ${line}`);
      await keyboard.press('j');
      await loaded(page, () => keyboard.press('o'));
      const { pathname, searchParams } = new URL(page.url());
      assert.equal(list === 'queue' ? searchParams.get('open') : pathname.split('/').at(-1), wanted, name);
      counts[name] = keyboard.keys;
    }
    for (const [name, keys] of Object.entries(counts)) assert.ok(keys <= KEYS_MAXIMUM, `${name}: ${keys}`);
    await context.close();
  });
