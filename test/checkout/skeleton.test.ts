// Pages filled into skeletons are byte for byte those made anew, whoever's payment, in whatever language, was shown before.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { knownContacts, readForm } from '../../src/checkout/form.ts';
import { LatestInstructions } from '../../src/checkout/instructions.ts';
import { isLong } from '../../src/checkout/parts.ts';
import { type Pending, pendingPage } from '../../src/checkout/pending-page.ts';
import { type Visit, visitOf } from '../../src/checkout/visit.ts';
import { timeOrderedId } from '../../src/lib/ids.ts';
import { Skeletons } from '../../src/lib/skeleton.ts';
import type { MethodSettings } from '../../src/methods/method.ts';
import { Offer } from '../../src/methods/offer.ts';
import type { Payment } from '../../src/payments/payment.ts';
import { LANGUAGES, Languages } from '../../src/ui/languages.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const NOW = Date.UTC(2026, 10, 21);
const PAGES = Number(process.env.COUNTERFOIL_RUNS) || 1000;

const SHARP = `<script>alert(1)</script>&amp;'"`;
/** Texts that look like markup, like a stand-in for a value, or like an instruction to whoever puts values in. */
const TEXTS = ['Ana Silva', SHARP, 'שלום', '日本語', '\ufdd1\ufdd2\ufdef', '$& $1', 'x'.repeat(200), '0', ''];

const ADDRESS = {
  street: 'Bahnhofstrasse',
  building: '1',
  postal_code: '8001',
  city: 'Zürich',
  country: 'CH',
};
const ACCOUNTS = [
  { currency: 'EUR', holder: `Corner ${SHARP}`, iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
  { currency: 'CHF', holder: 'Corner AG', iban: 'CH9300762011623852957', address: ADDRESS },
  { currency: 'INR', holder: 'Corner', upi_id: 'corner@okaxis', rows: [{ label: SHARP, value: '501' }] },
  { currency: 'BRL', holder: 'Corner', pix_key: '123e4567-e12b-42d1-a456-426655440000', city: 'São Paulo' },
  { currency: 'USD', holder: 'Corner', rows: [{ label: 'Account', value: '0001' }] },
];
const method = (id: string, type: MethodSettings['type'], more: Partial<MethodSettings> = {}) => ({
  ...{ id, type, name: null, instructions: null, currencies: null, accounts: [] },
  ...more,
});
const METHODS: readonly MethodSettings[] = [
  method('card', 'test_card'),
  method('bank', 'bank_transfer', { accounts: ACCOUNTS }),
  method('bank_2', 'bank_transfer', { name: 'Other bank', accounts: ACCOUNTS.slice(3) }),
  method('cash', 'manual', { name: SHARP, instructions: `${SHARP}\nPay\ufdd3 the courier.` }),
  method('cheque', 'manual', { name: 'Cheque', instructions: 'By post.' }),
  method('details', 'details', { name: 'Later' }),
  method('voucher', 'manual', { name: 'Voucher', instructions: 'At the till.', currencies: ['EUR'] }),
];
const CHOSEN = new Map([
  ['mer_all', null],
  ['mer_some', ['details', 'bank']],
]);

const languages = new Languages('Europe/Berlin');
const offer = new Offer(METHODS, { methodsOf: (id) => CHOSEN.get(id) });
const latest = new LatestInstructions();
const random = new SeededRandom();

const maybe = <T>(make: () => T): T | null => (random.chance(0.4) ? null : make());
const text = () => random.pick(TEXTS);

/** All that looks at pages differ in, each with its chances. */
const CHOICES = {
  merchant_id: () => random.pick(['mer_all', 'mer_some', 'mer_gone']),
  mode: () => random.pick(['live', 'test'] as const),
  amount_minor: () => random.pick([1, 4990, 99_999_999_999_999, random.between(1, 10_000_000)]),
  currency: () => random.pick(['EUR', 'CHF', 'INR', 'BRL', 'USD', 'JPY']),
  merchant_name: () => random.pick(['Corner Shop', 'Corner', ...TEXTS]),
  merchant_reference: () => maybe(text),
  description: () => maybe(text),
  return_url: () => maybe(() => random.pick(['https://shop.example/a?b=c&d#e', 'https://other.example/'])),
  cancel_url: () => maybe(() => 'https://www.shop.example/basket'),
  customer: () => maybe(() => JSON.stringify({ name: text(), email: 'ana@example.com', phone: maybe(text) })),
  website: () => maybe(() => random.pick(['https://shop.example', 'https://corner.example'])),
  support: () => maybe(() => random.pick(['help@shop.example', '+44 20 1', 'https://shop.example/?a&b'])),
  lang: () => maybe(() => random.pick(LANGUAGES).tag),
  accepted: () => random.pick(['', 'fr', 'he, en;q=.5']),
  theme: () => random.pick(['', 'dark', 'light']),
  edit: () => random.pick([null, 'contact', SHARP]),
  chosen: () => random.between(0, METHODS.length - 1),
  isNamed: () => random.chance(0.5),
  basePath: () => random.pick(['', '/pay']),
  isSent: () => random.chance(0.2),
};
type Choices = { [name in keyof typeof CHOICES]: ReturnType<(typeof CHOICES)[name]> };
const NAMES = Object.keys(CHOICES) as (keyof Choices)[];

const drawn = (names: readonly (keyof Choices)[]) =>
  Object.fromEntries(names.map((name) => [name, CHOICES[name]()])) as Partial<Choices>;

interface Look {
  visit: Visit;
  pending: Pending;
}

/** Looks that mostly differ from the one before in a single thing beside the payment: what a skeleton forgot would show. */
function looks(count: number): Look[] {
  let choices = {} as Choices;
  return Array.from({ length: count }, (_, i) => {
    choices = { ...choices, ...drawn(i % 50 === 0 ? NAMES : [random.pick(NAMES)]) };
    return look(choices);
  });
}

/** One look at the page of a new payment, and what was typed into its form where it was sent. */
function look(choices: Choices): Look {
  const { website, support, lang, accepted, theme, edit, chosen, isNamed, basePath, isSent, ...own } =
    choices;
  const payment: Payment = {
    ...own,
    id: timeOrderedId('pay_', NOW),
    salt: `salt ${random.next()}`,
    expires_at: NOW + random.between(0, 1_000_000_000),
    ...{ status: 'pending', status_reason: null, version: 1, created_at: NOW, updated_at: NOW },
    ...{ metadata: null, payment_details: null, submission: null, review_message: null, review: null },
    ...{ link_requested_at: null, payer_email: null, payer_account: null, submitted_at: null, method: null },
    ...{ decided_at: null, claimed_by: null, claimed_until: null },
  };
  const methods = offer.methodsFor(payment);
  const index = chosen % methods.length;
  const method = methods[index]!;
  const query = {
    payment_id: payment.id,
    ...(lang !== null && { lang }),
    ...((isNamed || index > 0) && { method: method.id }),
    ...(edit !== null && { edit }),
  };
  const headers = { 'accept-language': accepted, cookie: `counterfoil_theme=${theme}` };
  const place = { languages, baseUrl: `https://pay.example${basePath}`, basePath };
  const visit = visitOf({ query, headers } as Parameters<typeof visitOf>[0], place);
  const { words } = visit;
  const amount = words.money(payment.amount_minor, payment.currency);
  const subject = { payment, profile: { website, support }, words, amount, isLong: isLong(amount) };
  const pending = { ...subject, methods, method, latest };
  if (!isSent) return { visit, pending };
  const sent = new URLSearchParams({ 'payer-name': text(), 'payer-email': text(), 'card-number': '4000 1' });
  const known = knownContacts(payment, method, visit.asked.edit);
  const typed = readForm(sent, method, known, words, payment.merchant_name, NOW);
  return { visit, pending: { ...pending, typed } };
}

describe(`skeletons, seed ${random.seed}`, () => {
  test('no page differs from the one that is made anew, though many share a skeleton.', () => {
    const skeletons = new Skeletons();
    const all = looks(PAGES);
    for (const { visit, pending } of [...all, ...random.shuffled(all)]) {
      const page = String(pendingPage(visit, pending, skeletons));
      assert.equal(page, pendingPage(visit, { ...pending, latest: new LatestInstructions() }));
    }
  });

  test('what was kept of one payment stands in no page of another.', () => {
    const skeletons = new Skeletons();
    const all = looks(PAGES);
    for (const { visit, pending } of all) pendingPage(visit, pending, skeletons);
    for (const [i, { visit, pending }] of all.entries()) {
      const page = String(pendingPage(visit, pending, skeletons));
      assert.ok(page.includes(pending.payment.id));
      assert.ok(!page.includes(all[(i + 1) % all.length]!.pending.payment.id));
    }
  });

  test('what a customer is told is of the method, the settings and the language at hand, whatever was told before.', () => {
    const renewed = METHODS.map((one) => ({
      ...one,
      accounts: one.accounts.map((account) => ({ ...account, holder: 'Corner, renewed' })),
    }));
    const offers = [METHODS, renewed].map((settings) => new Offer(settings, { methodsOf: () => null }));
    const payments = [1, 2].map(() => {
      const choices = { ...drawn(NAMES), currency: 'BRL', basePath: '', isSent: false };
      return look(choices as Choices).pending.payment;
    });
    const asked = payments.flatMap((payment) =>
      offers.flatMap((offer) =>
        ['bank', 'bank_2'].flatMap((id) => ['en', 'ar', 'ja'].map((lang) => ({ payment, offer, id, lang }))),
      ),
    );
    const told = new Set<string>();
    const latestHere = new LatestInstructions();
    for (const { payment, offer, id, lang } of Array.from({ length: 10 }, () =>
      random.shuffled(asked),
    ).flat()) {
      const methods = offer.methodsFor(payment);
      const method = methods.find((one) => one.id === id)!;
      const query = { payment_id: payment.id, method: id, lang };
      const place = { languages, baseUrl: 'https://pay.example', basePath: '' };
      const visit = visitOf({ query, headers: {} } as unknown as Parameters<typeof visitOf>[0], place);
      const { words } = visit;
      const amount = words.money(payment.amount_minor, payment.currency);
      const profile = { website: null, support: null };
      const subject = { payment, profile, words, amount, isLong: false, methods, method };
      const page = pendingPage(visit, { ...subject, latest: latestHere });
      assert.equal(page, pendingPage(visit, { ...subject, latest: new LatestInstructions() }));
      told.add(String(page));
    }
    assert.equal(told.size, asked.length);
  });

  test('a transfer is told anew where it is no longer among the latest.', () => {
    const latestHere = new LatestInstructions();
    let told = 0;
    const tellOf = (pending: Pending) => {
      const method = pending.methods.find(({ id }) => id === 'bank')!;
      latestHere.of(pending, method, () => {
        told++;
        return method.instructions(pending.payment);
      });
    };
    const pendings = Array.from({ length: 500 }, () => {
      const choices = { ...drawn(NAMES), merchant_id: 'mer_all', currency: 'BRL', isSent: false };
      return look(choices as Choices).pending;
    });
    const [first, ...others] = pendings as [Pending, ...Pending[]];
    tellOf(first);
    tellOf(first);
    assert.equal(told, 1);
    for (const other of others) tellOf(other);
    assert.equal(told, pendings.length);
    tellOf(first);
    assert.equal(told, pendings.length + 1);
  });

  test('values are escaped, left out where there are none, and may come again.', () => {
    const skeletons = new Skeletons();
    let made = 0;
    const fill = (key: string, a: string | null, b: string) =>
      skeletons
        .fill(key, { a, b }, (values) => {
          made++;
          return `<p>${key}${values.a === null ? '' : `<b>${values.a}</b>`}${values.b}${values.b}</p>`;
        })
        .toString();
    assert.equal(fill('é', 'a', '日'), '<p>é<b>a</b>日日</p>');
    assert.equal(
      fill('é', SHARP, '\ufdd1'),
      '<p>é<b>&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&#39;&quot;</b>\ufdd1\ufdd1</p>',
    );
    assert.equal(made, 1);
    assert.equal(fill('é', null, 'b'), '<p>ébb</p>');
    assert.equal(fill('other', 'a', 'b'), '<p>other<b>a</b>bb</p>');
    assert.equal(made, 3);
    assert.equal(fill('\ufdd1', 'a', 'b'), '<p>\ufdd1<b>a</b>bb</p>', 'a key that looks like a stand-in');
    assert.equal(fill('\ufdd1', 'c', 'b'), '<p>\ufdd1<b>c</b>bb</p>');
  });
});
