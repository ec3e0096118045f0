// The receipt as a PDF file, which is what Chromium prints: one page of A4 or Letter, with all its words as text that can be searched and copied.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { newSecret } from '../../src/lib/secrets.ts';
import { startChromium } from '../support/chromium.ts';
import { open } from '../support/customer.ts';
import { startHarness } from '../support/harness.ts';

const key = newSecret('cfk_test_');
const SHOP = `  - id: mer_books
    name: Corner Shop
    legal_name: Corner Shop GmbH
    address: "Hauptstraße 1\\n10115 Berlin"
    tax_id: DE123456789
    support: help@corner.example
    keys: [{ key: ${key} }]
`;
/** Chromium writes no text for the first character that no font of the machine has. */
const READ_LEAST = 0.95;
const SKIP = spawnSync('pdftotext', ['-v']).error ? 'pdftotext is missing (Debian: poppler-utils)' : false;

/** How much of the letters and digits of a text another has, in whatever order: lines that are read from the right come out in others. */
function shareOf(wanted: string, found: string): number {
  const count = (text: string) => {
    const counts = new Map<string, number>();
    for (const one of text.normalize('NFKC').match(/[\p{L}\p{N}]/gu) ?? [])
      counts.set(one, (counts.get(one) ?? 0) + 1);
    return counts;
  };
  const there = count(found);
  const all = [...count(wanted)];
  const read = all.reduce((sum, [one, times]) => sum + Math.min(times, there.get(one) ?? 0), 0);
  return read / all.reduce((sum, [, times]) => sum + times, 0);
}

test('a receipt for twenty items is one page of A4 and of Letter in de, ar, ja and hi, and its text reads back', {
  skip: SKIP,
}, async () => {
  await using harness = await startHarness('sqlite', { configuration: SHOP });
  await using browser = await startChromium();
  const description = Array.from({ length: 20 }, (_, i) => `${i + 1} loaves of rye bread`).join('\n');
  const asked = { currency: 'EUR', merchant_reference: 'ORDER-1001', description };
  const { id } = await harness.create(asked, { key });
  for (const act of ['submit', 'approve'])
    await harness.request(`/v1/test/payments/${id}/${act}`, { method: 'POST', key });
  const number = /\d+(?:-[0-9a-z]{4}){3}/.exec((await open(harness, id)).body)![0];
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.emulateMedia({ media: 'print' });
  for (const language of ['de', 'ar', 'ja', 'hi']) {
    await page.goto(`${harness.origin}/payment.php?payment_id=${id}&lang=${language}`);
    const seen = await page.locator('body').innerText();
    assert.match(seen, /Hauptstraße 1\n10115 Berlin/, language);
    for (const format of ['A4', 'Letter']) {
      const name = `${format} in ${language}`;
      const input = await page.pdf({ format });
      assert.equal(input.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length, 1, name);
      const { stdout: text } = spawnSync('pdftotext', ['-raw', '-', '-'], { input, encoding: 'utf8' });
      for (const wanted of [
        number,
        id,
        'Corner Shop GmbH',
        'Hauptstraße 1',
        '10115 Berlin',
        'DE123456789',
        'ORDER-1001',
      ])
        assert.ok(text.includes(wanted), `${name}: ${wanted}`);
      assert.match(text, /49[.,]90/, name);
      const share = shareOf(seen, text);
      assert.ok(share >= READ_LEAST, `${name}: ${share} of what is seen can be read`);
    }
  }
});
