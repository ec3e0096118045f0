// The links back to the merchant: their address as the URL standard writes it, with the payment's id, and its host where it is strange.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { outTo, type PaymentSubject, withPaymentId } from '../../src/checkout/parts.ts';
import { safeUrl } from '../../src/lib/html.ts';
import { webAddressFault } from '../../src/lib/web-address.ts';
import { type CheckoutPage, load, open, send, TYPED } from '../support/customer.ts';
import { isWhole } from '../support/extent.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { createAt, KEYS, SHOP } from '../support/shop.ts';
import { decide } from './scenes.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || (isWhole ? 3000 : 900);
const ID = `pay_${'0'.repeat(36)}`;

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

interface Link {
  href: string;
  rel: string | undefined;
  text: string;
  target: string | undefined;
}

/** The links that lead out of a page, to whatever host; not the one by which a receipt is verified. */
function linksOut({ text }: CheckoutPage): Link[] {
  const found: Link[] = [];
  const textOf = (node: Node): string =>
    'value' in node ? node.value : 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
  const visit = (node: Node): void => {
    if ('tagName' in node && node.tagName === 'a') {
      const value = (name: string) => (node as Element).attrs.find((one) => one.name === name)?.value;
      const href = value('href')!;
      if (/^https?:/i.test(href) && !/\/verify\?/.test(href))
        found.push({ href, rel: value('rel'), target: value('target'), text: textOf(node) });
    }
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(text));
  return found;
}

describe('a link back', () => {
  let harness: Harness;
  before(async () => {
    const limits = 'checkout_forms_per_payment: 100000\ncheckout_forms_per_address: 1000000\n';
    harness = await startHarness('sqlite', { configuration: SHOP + limits });
  });
  after(() => harness.close());

  /** Addresses, and what has to stand in the link; `@` stands for the parameter with the id. */
  const ADDRESSES: [given: string, link: string][] = [
    ['https://corner.example', 'https://corner.example/?@'],
    ['https://corner.example/', 'https://corner.example/?@'],
    ['https://corner.example/thanks', 'https://corner.example/thanks?@'],
    ['https://corner.example/thanks?', 'https://corner.example/thanks?@'],
    ['https://corner.example/thanks?a=b', 'https://corner.example/thanks?a=b&@'],
    ['https://corner.example/thanks?a=b&', 'https://corner.example/thanks?a=b&@'],
    ['https://corner.example/thanks?a=b&&', 'https://corner.example/thanks?a=b&&@'],
    ['https://corner.example/thanks??', 'https://corner.example/thanks??&@'],
    ['https://corner.example/thanks?a=b?', 'https://corner.example/thanks?a=b?&@'],
    ['https://corner.example/thanks?a=b&?', 'https://corner.example/thanks?a=b&?&@'],
    ['https://corner.example/thanks?a=b?c', 'https://corner.example/thanks?a=b?c&@'],
    ['https://corner.example/thanks?a=b;c=d', 'https://corner.example/thanks?a=b;c=d&@'],
    ['https://corner.example/thanks?a', 'https://corner.example/thanks?a&@'],
    ['https://corner.example/#paid', 'https://corner.example/?@#paid'],
    ['https://corner.example#paid', 'https://corner.example/?@#paid'],
    ['https://corner.example/?a=b#paid', 'https://corner.example/?a=b&@#paid'],
    ['https://corner.example/?#', 'https://corner.example/?@#'],
    ['https://corner.example/#', 'https://corner.example/?@#'],
    ['https://corner.example/#/app?a=b', 'https://corner.example/?@#/app?a=b'],
    ['https://corner.example/?a=b#?c&d#e', 'https://corner.example/?a=b&@#?c&d#e'],
    ['https://corner.example/?payment_id=other', 'https://corner.example/?payment_id=other&@'],
    ['https://corner.example/?a=%26%3D%23%20+%00', 'https://corner.example/?a=%26%3D%23%20+%00&@'],
    ['https://corner.example/%2e%2e/a/../b/./c//', 'https://corner.example/b/c//?@'],
    ['https://corner.example/?a=%zz&%', 'https://corner.example/?a=%zz&%&@'],
    [
      'https://corner.example/Straße?q=ä&ö=😀',
      'https://corner.example/Stra%C3%9Fe?q=%C3%A4&%C3%B6=%F0%9F%98%80&@',
    ],
    ['https://corner.example/?a="\'<>`{}|^', 'https://corner.example/?a=%22%27%3C%3E`{}|^&@'],
    ['https://corner.example/?a=1&amp;b=2&copy=3', 'https://corner.example/?a=1&amp;b=2&copy=3&@'],
    ['HTTPS://CORNER.EXAMPLE/Thanks', 'https://corner.example/Thanks?@'],
    ['https://corner.example:443/', 'https://corner.example/?@'],
    ['https://corner.example:8443/a', 'https://corner.example:8443/a?@'],
    ['https://例え.テスト/道?a', 'https://xn--r8jz45g.xn--zckzah/%E9%81%93?a&@'],
    ['https://bücher.example/?a=b', 'https://xn--bcher-kva.example/?a=b&@'],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/?@'],
    ['http://corner.example/', 'http://corner.example/?@'],
    ['http://[::1]:8080/?a', 'http://[::1]:8080/?a&@'],
    ['https://evil.example/https://corner.example/', 'https://evil.example/https://corner.example/?@'],
  ];

  for (const [given, wanted] of ADDRESSES)
    test(`to ${given} is as the URL standard writes it, with the payment's id behind its query.`, () => {
      const link = safeUrl(withPaymentId(new URL(given).href, ID))!;
      assert.equal(link, wanted.replace('@', `payment_id=${ID}`));
      assert.equal(new URL(link).searchParams.getAll('payment_id').at(-1), ID);
    });

  test("shows its host unless that is the merchant's own or below it.", async () => {
    for (const [given, host] of [
      ['https://corner.example/a', null],
      ['https://CORNER.example/a', null],
      ['http://corner.example/a', null],
      ['https://shop.corner.example/a', null],
      ['https://www.corner.example/a', null],
      ['https://a.b.corner.example/a', null],
      ['https://corner.example:8443/', 'corner.example:8443'],
      ['https://notcorner.example/', 'notcorner.example'],
      ['https://corner.example.evil.example/', 'corner.example.evil.example'],
      ['https://corner-example.evil.example/', 'corner-example.evil.example'],
      ['https://evil.example/corner.example', 'evil.example'],
      ['https://evil.example/?corner.example', 'evil.example'],
      ['https://evil.example#.corner.example', 'evil.example'],
      ['https://example/', 'example'],
      ['https://cörner.example/', new URL('https://cörner.example').host],
      ['https://соrner.example/', new URL('https://соrner.example').host], // with letters of another script
      ['http://127.0.0.1:1/', '127.0.0.1:1'],
      ['http://[::1]/', '[::1]'],
    ] as const) {
      const { id } = await createAt(harness, 'details', { return_url: given });
      const [link] = linksOut(await open(harness, id));
      if (host === null) assert.doesNotMatch(link!.text, /\(/, given);
      else assert.ok(link!.text.includes(`(${host})`), `${given}: ${link!.text}`);
      assert.match(link!.text, /Corner Shop/);
    }
  });

  test('shows its host always where the site of the merchant is not known.', async () => {
    const { id } = await harness.create({ return_url: 'https://corner.example/' });
    const [link] = linksOut(await open(harness, id));
    assert.ok(link!.text.includes('(corner.example)'));
  });

  test('tells the other side nothing of this page, and opens in its place.', async () => {
    const { id } = await createAt(harness, 'details', { return_url: 'https://corner.example/' });
    const page = await open(harness, id);
    const [link] = linksOut(page);
    assert.deepEqual(link!.rel!.split(' ').sort(), ['external', 'noopener', 'noreferrer']);
    assert.equal(link!.target, undefined);
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  });

  const BOTH = { return_url: 'https://corner.example/thanks', cancel_url: 'https://corner.example/basket' };
  const STATES: [name: string, which: keyof typeof BOTH, bring: (id: string) => Promise<unknown>][] = [
    ['pending', 'return_url', async () => {}],
    ['requires_review', 'return_url', async (id) => send(await open(harness, id), TYPED.details)],
    [
      'approved',
      'return_url',
      async (id) => {
        await send(await open(harness, id), TYPED.details);
        await decide(harness, id, 'approve');
      },
    ],
    [
      'rejected',
      'cancel_url',
      async (id) => {
        await send(await open(harness, id), TYPED.details);
        await decide(harness, id, 'reject', 'No.');
      },
    ],
    [
      'cancelled by the customer',
      'cancel_url',
      async (id) => send(await open(harness, id, { view: 'cancel' })),
    ],
    [
      'cancelled by the merchant',
      'cancel_url',
      (id) => harness.request(`/v1/payments/${id}/cancel`, { method: 'POST', key: KEYS.details }),
    ],
    ['expired', 'cancel_url', async () => harness.clock.advance(300_001)],
    [
      'expired with a new link asked for',
      'cancel_url',
      async (id) => {
        harness.clock.advance(300_001);
        await send(await open(harness, id));
      },
    ],
  ];

  for (const [name, which, bring] of STATES)
    test(`of a payment that is ${name} leads to ${which}, or to the other where that is all there is.`, async () => {
      for (const given of [BOTH, { return_url: BOTH.return_url }, { cancel_url: BOTH.cancel_url }, {}]) {
        const { id } = await createAt(harness, 'details', { ...given, expires_in: 300 });
        await bring(id);
        const links = linksOut(await open(harness, id)).map(({ href }) => href);
        const [only] = Object.values(given);
        const target = (given as Partial<typeof BOTH>)[which] ?? only;
        assert.deepEqual(links, target === undefined ? [] : [`${target}?payment_id=${id}`]);
      }
    });

  test('is on no page that asks whether to cancel, nor on one of an unknown payment.', async () => {
    const { id } = await createAt(harness, 'details', BOTH);
    assert.deepEqual(linksOut(await open(harness, id, { view: 'cancel' })), []);
    assert.deepEqual(linksOut(await load(new URL(`${harness.origin}/payment.php?payment_id=x`))), []);
  });

  /** Addresses put together from the parts on which parsers differ. */
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom(
      '?',
      '#',
      '&',
      '/',
      '%',
      '..',
      '=',
      ';',
      ':',
      '@',
      '\\',
      '//',
      'payment_id=x',
      '%23',
      '%3f',
    ),
  );
  const host = fc.oneof(
    fc.domain(),
    fc.constantFrom('corner.example', '例え.テスト', 'bücher.example', '127.0.0.1', '[::1]', 'xn--a', 'a..b'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  );
  const address = fc
    .tuple(
      fc.constantFrom('https://', 'http://', 'HTTPS://', 'https:', 'https:///', 'javascript://'),
      host,
      fc.constantFrom('', ':8443', ':443', ':0', ':'),
      fc.array(part, { maxLength: 8 }),
    )
    .map(([scheme, name, port, parts]) => scheme + name + port + parts.join(''));

  const assertLink = (given: string, link: string, id: string) => {
    const [from, to] = [new URL(given), new URL(link)];
    assert.ok(['http:', 'https:'].includes(to.protocol));
    assert.deepEqual(
      [to.protocol, to.host, to.pathname, to.hash],
      [from.protocol, from.host, from.pathname, from.hash],
    );
    assert.deepEqual([...to.searchParams].at(-1), ['payment_id', id]);
    const added = link.length - given.length;
    const at = link.lastIndexOf(`payment_id=${id}`);
    const before = link.slice(0, at);
    const rest = link.slice(at + `payment_id=${id}`.length);
    const joint = added - `payment_id=${id}`.length;
    assert.ok(joint === 0 || joint === 1);
    assert.equal(before.slice(0, before.length - joint) + rest, given);
  };

  test(`of ${RUNS} addresses each that is taken gives a link with its parts, and the id as its last parameter.`, (context) => {
    let taken = 0;
    fc.assert(
      fc.property(
        fc.oneof(address, fc.webUrl({ withQueryParameters: true, withFragments: true })),
        (given) => {
          if (webAddressFault(given, { httpsOnly: false })) return;
          taken++;
          const link = safeUrl(withPaymentId(given, ID));
          assert.ok(link, given);
          assertLink(given, link, ID);
          const subject = { payment: { id: ID }, profile: { website: null } } as PaymentSubject;
          assert.deepEqual(outTo(subject, given), { target: link, host: new URL(given).host });
        },
      ),
      { numRuns: RUNS },
    );
    context.diagnostic(`${taken} of ${RUNS} addresses were taken`);
    assert.ok(taken > RUNS / 4);
  });

  test('is the same on the page, for addresses of all kinds.', async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(address, async (given) => {
        const body = { amount: 1, return_url: given };
        const answer = await harness.request('/v1/payments', { method: 'POST', key: KEYS.details, body });
        if (answer.status === 422) return;
        taken++;
        const { id } = answer.json.data;
        const links = linksOut(await open(harness, id));
        assert.equal(links.length, 1, given);
        assertLink(answer.json.data.return_url, links[0]!.href, id);
      }),
      { numRuns: Math.ceil(RUNS / 30) },
    );
    assert.ok(taken > 0);
  });
});
