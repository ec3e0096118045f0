// The page at the root, what every host is asked for, and what a link to a payment shows of it before it is opened.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { load, open } from '../support/customer.ts';
import { sharedHarness, startHarness } from '../support/harness.ts';
import { createAt, SHOP } from '../support/shop.ts';

describe('the root in development', () => {
  const harness = sharedHarness('sqlite', { configuration: SHOP });

  test('the title and the preview of a payment show merchant and amount, and no id.', async () => {
    const { id } = await createAt(harness, 'details', { amount: 1234.5, currency: 'EUR' });
    for (const [query, title] of [
      [{}, 'Pay Corner Shop – €1,234.50'],
      [{ view: 'cancel' }, 'Cancel this payment? – Corner Shop – €1,234.50'],
    ] as const) {
      const page = await open(harness, id, query);
      assert.equal(page.title, title);
      const [head] = page.text.split('</head>');
      assert.match(head!, /<meta property="og:title" content="[^"]*Corner Shop">/);
      assert.match(head!, /<meta property="og:description" content="€1,234.50">/);
      assert.ok(!head!.includes(id));
    }
    assert.doesNotMatch((await open(harness, 'pay_x')).text, /og:/);
  });

  test('an address with nothing shows browsers a page in their language, and tells programs in JSON.', async () => {
    const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
    for (const [path, accept, language, h1] of [
      ['/nothing', browser, 'en', 'There is no page at this address'],
      ['/wp-login.php?a=%22%3E', browser, 'de', 'Unter dieser Adresse gibt es keine Seite'],
      ['/nothing?lang=ja', browser, 'de', 'このアドレスにページはありません'],
      ['/register/nothing', browser, 'en', 'There is no page at this address'],
      ['/nothing', '*/*', 'de', undefined],
      ['/nothing', 'application/json', 'de', undefined],
      ['/v1/nothing', browser, 'de', undefined],
    ] as const) {
      const asked = { headers: { accept, 'accept-language': language } };
      const answer = await fetch(new URL(path, harness.origin), asked);
      const text = await answer.text();
      const told = `${path} ${accept}`;
      if (h1 === undefined) {
        assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', told);
        continue;
      }
      assert.deepEqual([answer.status, /<h1>(.*?)<\/h1>/.exec(text)?.[1]], [404, h1], told);
      assert.match(answer.headers.get('content-security-policy')!, /default-src 'none'/);
      assert.doesNotMatch(text, /<script/);
    }
    const posted = { method: 'POST', headers: { accept: browser } };
    const answer = await fetch(new URL('/nothing', harness.origin), posted);
    assert.match(await answer.text(), /"code":"not_found"/);
  });
});

test('in production / tells customers what this is and names no other place, also below a path.', async () => {
  const proxy = '127.0.0.1';
  await using harness = await startHarness('sqlite', { environment: 'production', trustProxy: proxy });
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7' };
  const root = await fetch(new URL('/', harness.origin), { headers, redirect: 'manual' });
  assert.deepEqual([root.status, root.headers.get('location')], [303, '/checkout']);
  const page = await load(new URL('/checkout', harness.origin), { headers });
  assert.deepEqual([page.status, page.h1], [200, 'Payment pages']);
  assert.doesNotMatch(page.text, /register|console|openapi/i);
});
