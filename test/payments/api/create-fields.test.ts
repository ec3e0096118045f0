// What creation takes and refuses, rule by rule: texts, addresses and metadata.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertFaults } from '../../support/faults.ts';
import { LIVE_KEY, sharedHarness, startHarness } from '../../support/harness.ts';
import { until } from '../../support/waiting.ts';

/** JSON as written: what `JSON.stringify` could not send. */
const body = (amount: string, rest = '') => `{"amount":${amount}${rest}}`;
const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, i]));

/** Addresses as they are sent, and as the URL standard serialises them. */
const SERIALISED = [
  ['HTTPS://SHOP.EXAMPLE', 'https://shop.example/'],
  ['https://bücher.example/ü?q=ü#ü', 'https://xn--bcher-kva.example/%C3%BC?q=%C3%BC#%C3%BC'],
  ['https://shop.example:443/a/../b/./c', 'https://shop.example/b/c'],
  ['https://ｓｈｏｐ.example/', 'https://shop.example/'],
] as const;

describe('texts, addresses and metadata of a payment', () => {
  const service = sharedHarness('sqlite');

  const post = (sent: unknown, headers: Record<string, string> = {}) =>
    service.request('/v1/payments', { method: 'POST', body: sent, headers });

  const texts = [
    ['merchant_reference', 255],
    ['description', 1000],
    ['customer.name', 255],
    ['customer.phone', 40],
  ] as const;
  const at = (path: string, value: unknown) =>
    path.startsWith('customer.') ? { customer: { [path.slice(9)]: value } } : { [path]: value };

  for (const [path, maximum] of texts) {
    test(`${path} is up to ${maximum} code points of well-formed text, null when absent or null.`, async () => {
      const longest = '\u{1F9FE}'.repeat(maximum);
      const created = await service.create(at(path, longest));
      assert.equal(path.startsWith('customer.') ? created.customer[path.slice(9)] : created[path], longest);
      assertFaults(await post({ amount: 1, ...at(path, `${longest}x`) }), [path], 'too long');
      const refused = [
        '\0',
        '\x07',
        '\r',
        '\x1b[31m',
        '\x7f',
        '\x85',
        '\u202a',
        '\u202e',
        '\u2066',
        '\u2069',
      ];
      if (path !== 'description') refused.push('\t', '\n');
      for (const character of refused)
        assertFaults(await post({ amount: 1, ...at(path, `a${character}b`) }), [path], escape(character));
      for (const lone of ['\\ud800', '\\udc00', '\\udc00\\ud800']) {
        const text = JSON.stringify({ amount: 1, ...at(path, 'HERE') }).replace('HERE', lone);
        assertFaults(await post(text), [path], lone);
      }
      for (const value of [1, true, [], {}])
        assertFaults(await post({ amount: 1, ...at(path, value) }), [path], String(value));
      assert.equal((await service.create(at(path, null))).merchant_reference, null);
    });
  }

  test('a test key is told which unknown fields were ignored, in a header and in the log.', async () => {
    const ignored = async (fields: object, key?: string) =>
      (
        await service.request('/v1/payments', {
          method: 'POST',
          body: { amount: 1, ...fields },
          ...(key && { key }),
        })
      ).headers.get('counterfoil-ignored');
    service.logged.length = 0;
    assert.equal(
      await ignored({ curency: 'EUR', customer: { nmae: 'A' } }),
      '"curency" (currency?), "customer.nmae" (customer.name?)',
    );
    const line = await until(
      () => service.logged.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'request'),
      (one) => one !== undefined,
    );
    assert.deepEqual(line.ignored, ['currency', 'customer.name']);
    service.logged.length = 0;
    assert.equal(await ignored({ colour: 1, '4242424242424242': 1, '<b>': 1 }), '"colour", "*", "*"');
    assert.doesNotMatch(service.logged.join(), /colour|4242|<b>/);
    assert.equal(await ignored({ metadata: { curency: 1 } }), null);
    const wide = await ignored(
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`.padEnd(60, 'y'), 1])),
    );
    assert.ok(wide!.length < 1000, String(wide!.length));
    const strict = await post({ amount: 1, curency: 'EUR' }, { prefer: 'handling=strict' });
    assertFaults(strict, ['curency'], 'strict');
  });

  test('locale is a language tag, kept in the case of BCP 47, null when absent or null.', async () => {
    for (const [sent, kept] of [
      ['de', 'de'],
      ['de-at', 'de-AT'],
      ['ZH-hant-tw', 'zh-Hant-TW'],
      [null, null],
      [undefined, null],
    ] as const)
      assert.equal((await service.create({ locale: sent })).locale, kept);
    for (const wrong of ['d', 'de_DE', '*', 'en, de', 'x'.repeat(36), `de-x-${'a'.repeat(31)}`, 5, {}])
      assertFaults(await post({ amount: 1, locale: wrong }), ['locale'], String(wrong));
  });

  test('TAB and LF are text in description.', async () => {
    const description = 'Two jugs\n\t1 blue\n\t1 green';
    assert.equal((await service.create({ description })).description, description);
  });

  test('right-to-left letters, combining marks and emoji come back as they were sent.', async () => {
    const description = 'שלום مرحبا e\u0301 👩‍👩‍👧 \u200f\u200d';
    assert.equal((await service.create({ description })).description, description);
  });

  test('customer.email is an address of at most 254 code points.', async () => {
    const longest = `${'a'.repeat(60)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}.de`;
    for (const email of [
      'a@b.example',
      'a.b+c@x-y.example',
      'δοκιμή@παράδειγμα.gr',
      "o'neil@x.example",
      longest,
    ])
      assert.equal((await service.create({ customer: { email } })).customer.email, email);
    const refused = [
      'a',
      'a@',
      '@b.c',
      'a@@b.c',
      'a b@c.d',
      'a@b..c',
      '.a@b.c',
      'a.@b.c',
      'a@-b.c',
      'a@b-.c',
    ];
    for (const email of [...refused, '"a"@b.c', '<a@b.c>', 'a@b.c,d@e.f', `x${longest}${'x'.repeat(9)}`, 1])
      assertFaults(await post({ amount: 1, customer: { email } }), ['customer.email'], String(email));
  });

  test('return_url and cancel_url are absolute http or https addresses with a real host.', async () => {
    const taken = `https://shop.example http://shop.example/a?b=c#d https://shop.example:8443/ HTTPS://SHOP.EXAMPLE/x
        https://bücher.example/ü http://[::1]:3000/ http://localhost:3000/done https://a.b.c.example/?u=https://x/`;
    const refused = `shop.example /thanks //shop.example/x javascript:alert(1) data:text/html,x file:///etc/passwd ftp://x.example
        https: https:// https:/// https:///x https:shop.example https:/shop.example https://user@shop.example
        https://user:pw@shop.example https://@shop.example https://shop.example\\x https://a..b https://.a https://a.
        https://shop.example: https://shop.example:0 https://shop.example:65536 https://shop.example:x https://exa%00mple
        mailto:a@b.c about:blank https://[::1 https://256.256.256.256`;
    const spaced = [
      ' https://x.example',
      'https://x.example ',
      'https://x. example',
      'https://x.example/a b',
    ];
    spaced.push(
      'https://x.example/\n',
      'java\tscript:alert(1)',
      'https://x.example/\u00a0',
      'https://x.example/\u3000',
    );
    for (const name of ['return_url', 'cancel_url']) {
      for (const url of taken.split(/\s+/)) {
        const kept = (await service.create({ [name]: url }))[name];
        assert.equal(kept, new URL(url).href);
        assert.equal(
          (await service.create({ [name]: kept }))[name],
          kept,
          'serialised again, it is the same',
        );
      }
      for (const [url, kept] of SERIALISED) assert.equal((await service.create({ [name]: url }))[name], kept);
      for (const url of [...refused.split(/\s+/), ...spaced, 1, {}])
        assertFaults(await post({ amount: 1, [name]: url }), [name], JSON.stringify(url));
      const longest = `https://shop.example/${'x'.repeat(2048 - 21)}`;
      assert.equal((await service.create({ [name]: longest }))[name], longest);
      assertFaults(await post({ amount: 1, [name]: `${longest}x` }), [name], '2049');
      const encoded = `https://shop.example/${'ü'.repeat(2048 - 21)}`; // six characters each, percent-encoded
      assertFaults(await post({ amount: 1, [name]: encoded }), [name], 'longer when encoded');
    }
  });

  test('metadata is any JSON object, kept exactly.', async () => {
    const metadata = {
      text: 'a\tb\u0001',
      number: -1.5e-7,
      yes: true,
      nothing: null,
      list: [1, [2, { three: 3 }]],
      '': 'empty name',
      constructor: 'x',
      toString: 1,
      '0': 'number',
      größe: '40',
    };
    assert.deepEqual((await service.create({ metadata })).metadata, metadata);
    assert.deepEqual((await service.create({ metadata: {} })).metadata, {});
    assert.equal((await service.create({ metadata: null })).metadata, null);
    for (const value of [[1], 'x', 1, true])
      assertFaults(await post({ amount: 1, metadata: value }), ['metadata'], 'type');
  });

  test('metadata holds no U+0000, neither in a text nor in a name.', async () => {
    assertFaults(await post({ amount: 1, metadata: { a: ['x', 'b\0'] } }), ['metadata.a.1'], 'text');
    assertFaults(await post({ amount: 1, metadata: { 'a\0': 1 } }), ['metadata'], 'name');
    assertFaults(await post({ amount: 1, metadata: { a: { '\0b': 1 } } }), ['metadata'], 'name below');
  });

  test('metadata has at most 16 KiB, 100 names and 5 levels.', async () => {
    const filled = (bytes: number) => ({ a: 'ü'.repeat((bytes - 8) / 2) });
    for (const taken of [filled(16 * 1024), names(100), nested(5), { a: [[[[1]]]] }])
      assert.equal((await post({ amount: 1, metadata: taken })).status, 201);
    for (const refused of [
      filled(16 * 1024 + 2),
      names(101),
      { a: names(60), b: names(39) },
      nested(6),
      { a: [[[[[1]]]]] },
    ])
      assertFaults(
        await post({ amount: 1, metadata: refused }),
        ['metadata'],
        JSON.stringify(refused).slice(0, 40),
      );
  });

  test('a number in metadata that a double cannot hold is refused, not rounded.', async () => {
    assertFaults(await post(body('1', ',"metadata":{"id":12345678901234567890}')), ['metadata.id'], 'long');
    assertFaults(await post(body('1', ',"metadata":{"a":{"b":1e400}}')), ['metadata.a.b'], 'infinite');
  });
});

test('in production plain http addresses are refused but for loopback.', async () => {
  await using service = await startHarness('sqlite', { environment: 'production' });
  const post = (return_url: string) =>
    service.request('/v1/payments', { method: 'POST', body: { amount: 1, return_url }, key: LIVE_KEY });
  for (const url of [
    'http://shop.example',
    'http://10.0.0.1/',
    'http://localhost.example/',
    'http://127.example/',
  ])
    assert.deepEqual(Object.keys((await post(url)).json.error.details), ['return_url'], url);
  for (const url of ['https://shop.example', 'http://localhost:3000/', 'http://127.0.0.1/', 'http://[::1]/'])
    assert.equal((await post(url)).status, 201, url);
});
