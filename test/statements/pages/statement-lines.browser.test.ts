// Ten lines as bank statements show them: each leads to its payment by at most five keys and no mouse, in the queue and in all payments.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { sharedReview, waiting } from '../../review/pages/review-stage.ts';
import { CountedKeys, consolePage, startChromium } from '../../support/chromium.ts';
import { type Client, signIn } from '../../support/console.ts';
import { referencesOf } from '../../support/payments.ts';
import { shared } from '../../support/shared.ts';

const KEYS_MAXIMUM = 5;

const harness = sharedReview('', false);
const browser = shared(startChromium);
let ana: Client;
/** The payment that each line means. Others of the same merchant wait beside it. */
let wanted: string;
before(async () => {
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
});

async function linesOf(id: string): Promise<Record<string, string>> {
  const { whole: reference, qr } = await referencesOf(harness, id);
  return {
    'end-to-end reference': `EREF+${reference}`,
    'purpose with the reference inside': `SVWZ+Rechnung 42 ${reference} Danke`,
    'reference cut after 12 characters': reference.slice(0, 12),
    'lower case': reference.toLowerCase(),
    'in groups': `  ${reference.replaceAll(/.{4}(?=.)/g, '$& ')} `,
    'payer’s name': 'GUTSCHRIFT 20.11. MUELLER ABT, JOERG',
    'payer’s account': 'IBAN: DE89 3704 0044 0532 0130 00 BIC: COBADEFFXXX',
    amount: '1.200,00',
    'QR reference': `QRR ${qr.replaceAll(/^..|.{5}(?=.)/g, '$& ')}`,
    'merchant’s reference': 'SVWZ+INV-2026-0042 DANKE',
  };
}

for (const list of ['queue', 'payments'])
  test(`Each of ten lines opens its payment from the ${list} in at most ${KEYS_MAXIMUM} keys.`, async () => {
    const lines = Object.entries(await linesOf(wanted));
    assert.equal(lines.length, 10);
    const page = await consolePage(browser, harness, ana);
    const counts: Record<string, number> = {};
    for (const [name, line] of lines) {
      await page.goto(`${harness.origin}/console/${list}`);
      const keys = new CountedKeys(page);
      await keys.press('/');
      await keys.paste(line);
      await keys.lead('Enter');
      assert.equal(await page.locator('[data-key-row]').count(), 1, `${name}: ${line}`);
      await keys.press('j');
      await keys.lead('o');
      const { pathname, searchParams } = new URL(page.url());
      assert.equal(list === 'queue' ? searchParams.get('open') : pathname.split('/').at(-1), wanted, name);
      counts[name] = keys.count;
    }
    for (const [name, keys] of Object.entries(counts)) assert.ok(keys <= KEYS_MAXIMUM, `${name}: ${keys}`);
    await page.context().close();
  });
