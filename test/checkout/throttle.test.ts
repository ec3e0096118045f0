// How often forms are taken, from whom, and what else a stranger may send without end: the policy's reports.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { MINUTE_MS } from '../../src/lib/time.ts';
import { messagesOf } from '../../src/web/markup/languages.ts';
import { network, site } from '../../src/web/network.ts';
import { type CheckoutPage, FROM_OUR_PAGE, load, open, TYPED } from '../support/customer.ts';
import { type Harness, sharedHarness, startHarness } from '../support/harness.ts';
import { createAt, SHOP } from '../support/shop.ts';

const FORMS_PER_PAYMENT = 30;
const WINDOW_MS = 10 * MINUTE_MS;

/** Runs `act` on a service of its own, since all tests come from one address. */
async function on(configuration: string, act: (harness: Harness) => Promise<void>): Promise<void> {
  await using harness = await startHarness('sqlite', { configuration: SHOP + configuration });
  await act(harness);
}

interface Form {
  address: URL;
  values: Record<string, string>;
}

async function formOf(harness: Harness, query: Record<string, string> = {}): Promise<Form & { id: string }> {
  const { id } = await createAt(harness, 'details');
  const { action, values } = (await open(harness, id, query)).forms[0]!;
  return { id, address: action, values };
}

const requestOf = (
  { values }: Form,
  headers: Record<string, string>,
  typed: Record<string, string> = {},
): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...FROM_OUR_PAGE, ...headers },
  body: new URLSearchParams({ ...values, ...typed }).toString(),
});

/** Sends a form, one with faults unless told otherwise. */
const post = (
  form: Form,
  headers: Record<string, string> = {},
  typed: Record<string, string> = {},
): Promise<CheckoutPage> => load(form.address, requestOf(form, headers, typed));

/** Sends the same form `count` times. Returns the statuses that came, with how often each. */
async function several(count: number, form: Form, headers: Record<string, string> = {}) {
  const counts: Record<number, number> = {};
  for (let i = 0; i < count; i++) {
    const { status, body } = await fetch(form.address, requestOf(form, headers));
    await body?.cancel();
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

function assertBusy(page: CheckoutPage, language = 'en'): void {
  assert.equal(page.status, 429);
  const wait = Number(page.headers.get('retry-after'));
  assert.ok(Number.isInteger(wait) && wait > 0 && wait <= WINDOW_MS / 1000, String(wait));
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(page.headers.get('cache-control'), 'no-store');
  assert.equal(page.h1, messagesOf(language)['busy.heading']);
  assert.match(page.text, new RegExp(`<html lang="${language}"`));
  assert.ok(page.body.includes(String(Math.ceil(wait / 60))), page.body);
}

describe('the throttle of forms', () => {
  test('takes 30 forms of a payment in 10 minutes and not one more, while other payments go on.', () =>
    on('', async (harness) => {
      const form = await formOf(harness);
      assert.deepEqual(await several(FORMS_PER_PAYMENT, form), { 422: FORMS_PER_PAYMENT });
      assertBusy(await post(form));
      assertBusy(await post(form, {}, TYPED.details));
      const { status, text } = await open(harness, form.id);
      assert.equal(status, 200);
      assert.ok(text.includes('<form'), 'the page itself is shown as before');
      const [row] = await harness.service.database.query<{ version: number }>(
        'select version from payments where id = ?',
        form.id,
      );
      assert.equal(row!.version, 1);
      const other = await formOf(harness);
      assert.equal((await post(other, {}, TYPED.details)).status, 303);
    }));

  test('counts each form once, however many come at the same time.', () =>
    on('', async (harness) => {
      const form = await formOf(harness);
      const pages = await Promise.all(Array.from({ length: 2 * FORMS_PER_PAYMENT }, () => post(form)));
      const count = (wanted: number) => pages.filter(({ status }) => status === wanted).length;
      assert.deepEqual([count(422), count(429)], [FORMS_PER_PAYMENT, FORMS_PER_PAYMENT]);
    }));

  test('counts cancels as it counts other forms.', () =>
    on('checkout_forms_per_payment: 2\n', async (harness) => {
      const form = await formOf(harness);
      assert.deepEqual(await several(2, form), { 422: 2 });
      const cancel = (await open(harness, form.id, { view: 'cancel' })).forms[0]!;
      assertBusy(await post({ address: cancel.action, values: cancel.values }));
    }));

  test('counts forged forms apart, so that nobody uses up what a customer needs.', () =>
    on('checkout_forms_per_payment: 2\ncheckout_forms_per_address: 4\n', async (harness) => {
      const form = await formOf(harness);
      const forged = { ...form, values: {} };
      assert.deepEqual(await several(4, forged), { 403: 4 });
      assertBusy(await post(forged));
      assertBusy(await post(form, { 'sec-fetch-site': 'cross-site' }));
      assert.equal((await post(form, {}, TYPED.details)).status, 303);
    }));

  test('takes so many forms of an address in 10 minutes and not one more, whatever the payment.', () =>
    on('checkout_forms_per_address: 12\n', async (harness) => {
      for (let payment = 0; payment < 3; payment++)
        assert.deepEqual(await several(4, await formOf(harness)), { 422: 4 });
      const fresh = await formOf(harness);
      assertBusy(await post(fresh, {}, TYPED.details));
      assertBusy(await post(await formOf(harness)));
      assert.equal((await open(harness, fresh.id)).status, 200);
    }));

  test('takes forms again when the 10 minutes are over.', () =>
    on('checkout_forms_per_payment: 2\ncheckout_forms_per_address: 3\n', async (harness) => {
      harness.clock.stop();
      const form = await formOf(harness);
      const other = await formOf(harness);
      assert.deepEqual(await several(2, form), { 422: 2 });
      harness.clock.advance(WINDOW_MS - 1);
      assertBusy(await post(form));
      assertBusy(await post(other));
      harness.clock.advance(1);
      assert.equal((await post(form)).status, 422);
      assert.equal((await post(other, {}, TYPED.details)).status, 303);
    }));

  test('lets every page be looked at, before and after.', () =>
    on('checkout_forms_per_payment: 1\ncheckout_forms_per_address: 2\n', async (harness) => {
      const form = await formOf(harness);
      await several(4, form);
      assertBusy(await post(form));
      const pages = await Promise.all(Array.from({ length: 50 }, () => open(harness, form.id)));
      assert.deepEqual([...new Set(pages.map(({ status }) => status))], [200]);
      const created = await createAt(harness, 'details');
      assert.equal((await open(harness, created.id, { view: 'cancel' })).status, 200);
    }));

  test('believes X-Forwarded-For from no one where no proxy is trusted.', () =>
    on('checkout_forms_per_address: 3\n', async (harness) => {
      for (let i = 1; i <= 3; i++)
        assert.equal((await post(await formOf(harness), { 'x-forwarded-for': `192.0.2.${i}` })).status, 422);
      for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'client-ip', 'cf-connecting-ip'])
        assertBusy(await post(await formOf(harness), { [name]: '192.0.2.9' }));
    }));

  test('tells customers apart by X-Forwarded-For where its proxy is trusted, and believes what that one added.', () =>
    on('checkout_forms_per_address: 2\ntrust_proxy: [127.0.0.1, 10.0.0.0/8]\n', async (harness) => {
      const from = async (forwarded: string) =>
        (await post(await formOf(harness), { 'x-forwarded-for': forwarded })).status;
      assert.deepEqual(
        [await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1')],
        [422, 422, 429],
      );
      assert.equal(await from('192.0.2.2'), 422);
      assert.equal(
        await from('198.51.100.7, 192.0.2.1'),
        429,
        'what a customer claims in front does not count',
      );
      assert.equal(await from('192.0.2.1, 10.1.2.3'), 429, 'a trusted proxy behind is passed over');
      assert.equal(await from('::ffff:192.0.2.1'), 429, 'an IPv4 address in IPv6 form is the same');
      assert.deepEqual(
        [await from('2001:db8:1:2::1'), await from('2001:db8:1:2:ffff::9'), await from('2001:DB8:1:2::3')],
        [422, 422, 429],
      );
      assert.equal(await from('2001:db8:1:3::1'), 422);
      const subnets = Array.from({ length: 10 }, (_, subnet) => `2001:db8:9:${subnet}::1`);
      const taken = await Promise.all(subnets.map(from));
      assert.equal(
        taken.filter((status) => status === 422).length,
        8,
        'of one allocation four times as many',
      );
    }));
});

test('a caller is an IPv4 address or an IPv6 network of 64 bits.', () => {
  for (const [address, wanted] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['192.0.2.1:51000', '192.0.2.1'],
    ['[2001:db8::1]:443', '2001:db8::'],
    ['2001:db8::1', '2001:db8::'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::'],
    ['2001:DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8::'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
    ['2001:db8:1:2:3::', '2001:db8:1:2::'],
    ['2001::1:2:3:4:5', '2001:0:0:1::'],
    ['::1', '::'],
    ['::', '::'],
    ['1::', '1::'],
    ['::1:2:3:4:5:6:7', '0:1:2:3::'],
    ['fe80::1%eth0', 'fe80::'],
    ['fe80::2%lo', 'fe80::'],
    ['64:ff9b::192.0.2.1', '64:ff9b::'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::'],
    ['unknown', 'unknown'],
    ['', ''],
  ] as const)
    assert.equal(network(address), wanted, address);
});

test('a site is an IPv4 address or an IPv6 network of 48 bits.', () => {
  for (const [address, wanted] of [
    ['192.0.2.1:51000', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
    ['[2001:DB8:1:ffff::]:443', '2001:db8:1::'],
    ['2001:0:0:1::', '2001::'],
  ] as const)
    assert.equal(site(address), wanted, address);
});

describe("the reports of browsers' policies", () => {
  const LINE = 'a browser reports that the content security policy stopped something';
  const PAYMENT = `pay_${'1'.repeat(36)}`;

  const harness = sharedHarness('sqlite', { configuration: SHOP });
  // Of each minute a test has the lines to itself, from its beginning on, so that it does not end meanwhile.
  beforeEach(() => {
    harness.clock.advance(MINUTE_MS - (harness.clock.now() % MINUTE_MS) + 1);
    harness.logged.length = 0;
  });

  const said = () =>
    harness.logged
      .filter((line) => line.includes(LINE))
      .map((line): { directive: string; blocked: string } => JSON.parse(line))
      .map(({ directive, blocked }) => ({ directive, blocked }));
  const report = (type: string, body: unknown) =>
    harness.request('/csp-report', {
      method: 'POST',
      key: null,
      headers: { 'content-type': type },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test('are taken in both forms, and logged without a path, a query or a payment.', async () => {
    const page = `${harness.origin}/payment.php?payment_id=${PAYMENT}`;
    const classic = (directive: string, blocked: string) => ({
      'csp-report': {
        'document-uri': page,
        referrer: page,
        'violated-directive': `${directive} 'none'`,
        'effective-directive': directive,
        'original-policy': `default-src 'none'; report-uri /${PAYMENT}`,
        'blocked-uri': blocked,
        'source-file': page,
        'script-sample': PAYMENT,
      },
    });
    const modern = (directive: string, blocked: string) => ({
      type: 'csp-violation',
      age: 1,
      url: page,
      user_agent: PAYMENT,
      body: { documentURL: page, effectiveDirective: directive, blockedURL: blocked, sample: PAYMENT },
    });
    for (const [type, body] of [
      ['application/csp-report', classic('script-src-elem', `https://evil.example/${PAYMENT}?x=${PAYMENT}`)],
      ['application/json', classic('img-src', `data:image/png;base64,${PAYMENT}`)],
      ['application/csp-report; charset=utf-8', classic('script-src-attr', 'inline')],
      [
        'application/reports+json',
        [
          modern('style-src-elem', `http://${PAYMENT}:x@evil.example:81/a#${PAYMENT}`),
          modern('connect-src', page),
        ],
      ],
      ['application/reports+json', [modern('frame-src', `blob:${page}`), modern('worker-src', 'eval')]],
      [
        'application/csp-report',
        { 'csp-report': { 'violated-directive': "object-src 'none'", 'blocked-uri': '' } },
      ],
    ] as const) {
      const answer = await report(type, body);
      assert.deepEqual([answer.status, answer.text], [204, ''], type);
    }
    assert.deepEqual(said(), [
      { directive: 'script-src-elem', blocked: 'https://evil.example' },
      { directive: 'img-src', blocked: 'data:' },
      { directive: 'script-src-attr', blocked: 'inline' },
      { directive: 'style-src-elem', blocked: 'http://evil.example:81' },
      { directive: 'connect-src', blocked: harness.origin },
      { directive: 'frame-src', blocked: harness.origin },
      { directive: 'worker-src', blocked: 'eval' },
      { directive: 'object-src', blocked: '' },
    ]);
    assert.doesNotMatch(harness.logged.join(''), /pay_1|payment_id/);
  });

  test('fill at most 60 lines of the log in a minute, ten a body, and go on in the next.', async () => {
    const body = Array.from({ length: 40 }, (_, index) => ({
      body: { effectiveDirective: `img-src${'-x'.repeat(index)}`, blockedURL: 'inline' },
    }));
    assert.equal((await report('application/reports+json', body)).status, 204);
    assert.equal(said().length, 10);
    for (let i = 0; i < 30; i++) await report('application/reports+json', body);
    assert.equal(said().length, 60);
    harness.clock.advance(MINUTE_MS);
    await report('application/reports+json', body);
    assert.equal(said().length, 70);
  });

  const GARBAGE = [
    '{',
    'null',
    'true',
    '7',
    '"text"',
    '[]',
    '{}',
    '[null, 1, "a", [], {}]',
    '{"csp-report":null}',
    '{"csp-report":"x"}',
    '{"body":7}',
    '{"csp-report":{"effective-directive":{"toString":1,"valueOf":1},"blocked-uri":{"toString":null}}}',
    '{"csp-report":{"effective-directive":["x"],"blocked-uri":{}}}',
    '{"__proto__":{"body":{}}}',
    '['.repeat(8000),
    `${'['.repeat(8000)}${']'.repeat(8000)}`,
    `{"body":{"blockedURL":${'['.repeat(8000)}${']'.repeat(8000)}}}`,
    '\u0000',
    'csp-report=x',
  ];
  for (const type of ['application/csp-report', 'application/reports+json', 'application/json'])
    test(`are answered with 204 where they are garbage of the type ${type}, which is no failure of ours.`, async () => {
      for (const body of GARBAGE) {
        const { status, text } = await report(type, body);
        assert.deepEqual([status, text], [204, ''], body.slice(0, 100));
      }
      const told = harness.logged.filter((line) => /"level":(?:50|60)|a defect/.test(line));
      assert.deepEqual(told, []);
      for (const { directive, blocked } of said())
        assert.doesNotMatch(`${directive} ${blocked}`, /undefined|object|null/);
    });

  test('are refused where they are too large or of another type, and change nothing else.', async () => {
    assert.equal((await report('application/csp-report', 'x'.repeat(17 * 1024))).status, 413);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      assert.equal((await report(type, '{}')).status, 415, type);
    assert.deepEqual(said(), []);
    assert.equal((await harness.request('/csp-report', { key: null })).status, 404);
  });
});
