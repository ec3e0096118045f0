// The customer's page: one address, a page for each status, everything a merchant wrote shown as text.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { load } from '../support/customer.ts';
import { LIVE_KEY, sharedHarness } from '../support/harness.ts';
import { cancelAsCustomer, submit, tryOut } from '../support/payments.ts';

/** What the server adds to every answer. */
const TRANSPORT_HEADERS = ['connection', 'content-length', 'date', 'keep-alive', 'x-request-id'];

/** And what every page says of itself, but for where reports go. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; script-src 'none'; connect-src 'none'; " +
    "object-src 'none'; frame-src 'none'; worker-src 'none'; manifest-src 'none'; form-action 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'; " +
    'report-uri /csp-report; report-to csp',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'permissions-policy':
    'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), ' +
    'midi=(), payment=(), usb=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
};

type Move = 'submit' | 'approve' | 'reject' | 'cancel' | 'expire';
const PAGES: [status: string, moves: Move[], http: number, heading: string, money: string][] = [
  ['pending', [], 200, 'Pay Development Shop', 'Nothing has been paid yet.'],
  [
    'requires_review',
    ['submit'],
    200,
    'Development Shop is checking your payment',
    'No payment has been received yet.',
  ],
  ['approved', ['submit', 'approve'], 200, 'You have paid Development Shop', 'is confirmed.'],
  [
    'rejected',
    ['submit', 'reject'],
    200,
    'Development Shop could not accept this payment',
    'If you already sent money, contact Development Shop to get it back.',
  ],
  ['cancelled', ['cancel'], 200, 'This payment was cancelled', 'No payment has been received.'],
  ['expired', ['expire'], 410, 'This payment link has expired', 'No payment'],
];

describe('checkout', () => {
  const service = sharedHarness('sqlite', {
    configuration: `  - id: mer_sharp\n    name: "<b>Sharp & Sons</b>\\"'"\n    keys:\n      - key: ${LIVE_KEY}\n`,
  });

  const page = (query: string) => load(new URL(`${service.service.checkoutBaseUrl}/payment.php${query}`));
  const move = (id: string, one: Move): Promise<unknown> => {
    if (one === 'cancel') return cancelAsCustomer(service, id);
    return one === 'submit' ? submit(service, id) : tryOut(service, id, one);
  };

  for (const [status, moves, http, heading, money] of PAGES) {
    test(`a payment that is ${status} answers ${http}: ${heading}.`, async () => {
      const { id } = await service.create({ amount: 1234.5, currency: 'EUR', merchant_reference: 'R-1' });
      for (const one of moves) await move(id, one);
      const answer = await page(`?payment_id=${id}`);
      assert.equal(answer.status, http);
      assert.ok(answer.text.startsWith('<!doctype html>'));
      const text = answer.body;
      assert.equal(answer.h1, heading);
      assert.ok(text.includes(money), text);
      for (const one of ['€1,234.50', 'Development Shop', 'R-1', id, 'Test payment. No money will move.'])
        assert.ok(text.includes(one), one);
    });
  }

  test('the headers are exactly those of a page, with no script and nobody else let in.', async () => {
    const { id } = await service.create();
    for (const query of [`?payment_id=${id}`, '?payment_id=unknown']) {
      const { headers } = await page(query);
      const rest = Object.fromEntries([...headers].filter(([name]) => !TRANSPORT_HEADERS.includes(name)));
      assert.deepEqual(rest, {
        ...HEADERS,
        'reporting-endpoints': `csp="${service.service.checkoutBaseUrl}/csp-report"`,
      });
    }
  });

  test('unknown, malformed, missing, repeated and empty ids get one identical 404 page.', async () => {
    const { id } = await service.create();
    const queries = [
      `?payment_id=pay_${'0'.repeat(36)}`,
      '?payment_id=x',
      '',
      '?',
      '?payment_id=',
      '?payment_id',
      `?payment_id=${id}&payment_id=${id}`,
    ];
    queries.push(
      `?payment_id=${id.toUpperCase()}`,
      `?payment_id=${id}%00`,
      `?PAYMENT_ID=${id}`,
      `?payment_id[]=${id}`,
      '?payment_id=%F0%9F',
      `?payment_id=${id}%20`,
    );
    const bodies = new Set<string>();
    const headings = new Set<string>();
    for (const query of queries) {
      const answer = await page(query);
      assert.equal(answer.status, 404, query);
      bodies.add(answer.text);
      headings.add(answer.h1);
    }
    assert.equal(bodies.size, 1);
    assert.deepEqual([...headings], ['We cannot find this payment']);
  });

  test('what a merchant wrote is shown as text, never as markup.', async () => {
    const sharp = `<script>alert(1)</script><img src=x onerror="a">&amp;'"`;
    const payment = await service.create(
      { description: sharp, merchant_reference: sharp },
      { key: LIVE_KEY },
    );
    const { text } = await page(`?payment_id=${payment.id}`);
    assert.doesNotMatch(text, /<script|<img src=x|<b>|onerror="/);
    const escaped =
      '&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;a&quot;&gt;&amp;amp;&#39;&quot;';
    assert.equal(text.split(escaped).length, 3);
    assert.ok(text.includes('Pay &lt;b&gt;Sharp &amp; Sons&lt;/b&gt;&quot;&#39;'));
  });

  test('no page carries a script, an inline style or an address of another host.', async () => {
    const { id } = await service.create({ return_url: 'https://shop.example/' });
    for (const query of [`?payment_id=${id}`, '?payment_id=x']) {
      const { text } = await page(query);
      assert.doesNotMatch(text, /<script|\son\w+=|\sstyle=|<style|javascript:/i);
      for (const [, address] of text.matchAll(/\s(?:href|src|action)="([^"]*)"/g))
        if (address !== `https://shop.example/?payment_id=${id}`)
          assert.match(address!, /^(?:mailto:|\/assets\/x|\/(?!\/)|#)/);
    }
  });

  test('amounts are shown whole, in the manner of their currency.', async () => {
    for (const [amount, currency, shown] of [
      [10, 'USD', '$10.00 USD'],
      [1050, 'JPY', '¥1,050 JPY'],
      [0.01, 'EUR', '€0.01'],
      [1.25, 'KWD', '1.25'],
      [10, 'KWD', '10.00</bdi>'],
      [999999999999.99, 'EUR', '€999,999,999,999.99'],
    ] as const) {
      const { id } = await service.create({ amount, currency });
      const { text } = await page(`?payment_id=${id}`);
      assert.ok(text.includes(shown), `${shown} in ${/class="amount">(.*)</.exec(text)?.[1]}`);
    }
  });

  test("a payment's page shows nothing of the customer or of metadata.", async () => {
    const { id } = await service.create({
      customer: { name: 'Ada Lovelace', email: 'ada@example.org', phone: '+44 1' },
      metadata: { inner: 'SECRET' },
    });
    assert.doesNotMatch((await page(`?payment_id=${id}`)).text, /Ada|ada@|\+44|SECRET/);
  });
});
