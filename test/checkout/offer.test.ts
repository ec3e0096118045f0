// Which ways to pay there are: as configured, narrowed, in test and in live mode, and after the configuration changed.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dueOf } from '../../src/checkout/money.ts';
import { ConfigurationError, parseConfiguration } from '../../src/operate/config.ts';
import { Offer } from '../../src/payments/methods/offer.ts';
import type { Payment } from '../../src/payments/payment.ts';
import { messagesOf } from '../../src/web/markup/languages.ts';
import { load, send, TYPED } from '../support/customer.ts';
import {
  ask,
  type Harness,
  LIVE_KEY,
  startHarness,
  TEST_KEY_IN_PRODUCTION,
  writeConfiguration,
} from '../support/harness.ts';
import { startServerProcess } from '../support/server-process.ts';
import { temporaryStore } from '../support/stores.ts';
import { until } from '../support/waiting.ts';

describe('the offer', () => {
  const settings = parseConfiguration(
    `environment: development
methods:
  - type: test_card
  - type: bank_transfer
    accounts: [{ currency: EUR, holder: Shop, rows: [{ label: a, value: b }] }]
  - { id: cash, type: manual, name: Cash, instructions: Pay., currencies: [USD, JPY] }
  - { id: cheque, type: manual, name: Cheque, instructions: Post it. }
  - { id: none, type: manual, name: None, instructions: Nothing., currencies: [XPF] }
`,
    '/etc/counterfoil.yaml',
  ).methods;
  const of = (currency: string, merchant_id = 'mer_a', mode: 'live' | 'test' = 'test') => ({
    id: 'pay_x',
    salt: 'salt',
    mode,
    amount_minor: 100,
    currency,
    merchant_reference: null,
    merchant_id,
  });
  const choosing = (choices: Record<string, string[] | null>) => ({
    methodsOf: (id: string) => choices[id],
  });
  const NOBODY = choosing({});
  const ids = (offer: Offer, ...args: Parameters<typeof of>) =>
    offer.methodsFor(of(...args)).map(({ id }) => id);

  test('holds the methods that fit the currency and the mode, in the order of the configuration.', () => {
    const offer = new Offer(settings, choosing({ mer_a: null }));
    assert.deepEqual(ids(offer, 'EUR'), ['test_card', 'bank_transfer', 'cheque']);
    assert.deepEqual(ids(offer, 'USD'), ['test_card', 'cash', 'cheque']);
    assert.deepEqual(ids(offer, 'GBP'), ['test_card', 'cheque']);
    assert.deepEqual(ids(offer, 'EUR', 'mer_a', 'live'), ['bank_transfer', 'cheque']);
  });

  test('asks for the rest of a payment under review of which a part has arrived, and for nothing more when all has.', () => {
    const offer = new Offer(settings, choosing({ mer_a: null }));
    const dueWith = (status: string, ...arrived: number[]) => {
      const acts = arrived.map((amount_minor, i) => ({ act: 'record', amount_minor, entry_version: i + 2 }));
      const payment = { ...of('EUR'), status, submission: null, review: JSON.stringify(acts) };
      return dueOf(payment as unknown as Payment, offer);
    };
    const rest = dueWith('requires_review', 40, 25)!;
    assert.deepEqual([rest.payment.amount_minor, rest.isRest], [35, true]);
    assert.equal(rest.instructions?.kind, 'transfer');
    for (const due of [
      dueWith('requires_review'),
      dueWith('requires_review', 100),
      dueWith('requires_review', 60, 60),
      dueWith('approved', 40),
    ])
      assert.equal(due, undefined);
  });

  test('is narrowed to what its merchant chose, whose order does not count.', () => {
    const offer = new Offer(settings, choosing({ mer_a: ['cheque', 'cash'], mer_b: null }));
    assert.deepEqual(ids(offer, 'USD'), ['cash', 'cheque']);
    assert.deepEqual(ids(offer, 'EUR'), ['cheque']);
    assert.deepEqual(ids(offer, 'EUR', 'mer_b'), ['test_card', 'bank_transfer', 'cheque']);
  });

  test('shows a merchant that left the configuration contact details alone: the accounts left are those of others.', () => {
    const offer = new Offer(settings, choosing({ mer_a: null }));
    assert.deepEqual(ids(offer, 'EUR', 'mer_gone'), ['details']);
  });

  test('falls back on contact details where nothing fits, so that no page is without a form.', () => {
    const offer = new Offer(settings, choosing({ mer_a: ['test_card', 'cash'] }));
    assert.deepEqual(ids(offer, 'EUR', 'mer_a', 'live'), ['details']);
    assert.deepEqual(ids(new Offer([], NOBODY), 'EUR'), ['details']);
    const [fallback] = new Offer([], NOBODY).methodsFor(of('EUR'));
    assert.deepEqual(
      [fallback!.type, fallback!.name, fallback!.instructions(of('EUR'))],
      ['details', null, null],
    );
  });

  test('is another as soon as it is replaced.', () => {
    const offer = new Offer(settings, choosing({ mer_a: ['cheque'], mer_b: null }));
    offer.replace(settings.slice(0, 1));
    assert.deepEqual(ids(offer, 'EUR', 'mer_b'), ['test_card']);
  });
});

describe('settings of methods', () => {
  const iban = 'iban: DE89370400440532013000';
  const account = (text: string) => `- { type: bank_transfer, accounts: [{ ${text} }] }`;
  const swiss = 'currency: CHF, holder: Shop, iban: CH4431999123000889012';

  /** What is wrong with each, and where. */
  const FAULTS: [methods: string, setting: string, problem: RegExp][] = [
    [
      '- { type: cash }',
      'methods[0].type',
      /must be bank_transfer, manual, details or test_card, not "cash"/,
    ],
    ['- {}', 'methods[0].type', /must be|is missing/],
    ['- details', 'methods[0]', /must be a group/],
    ['{ type: details }', 'methods', /must be a list/],
    ['- { type: details, colour: red }', 'methods[0].colour', /is not a setting/],
    ['- { type: details, nmae: x }', 'methods[0].nmae', /did you mean name\?/],
    ['- { type: details, id: "Cash" }', 'methods[0].id', /1 to 40 of a-z, 0-9 and _/],
    ['- { type: details, id: "" }', 'methods[0].id', /1 to 40/],
    [`- { type: details, id: ${'a'.repeat(41)} }`, 'methods[0].id', /1 to 40/],
    ['- { type: details }\n  - { type: details }', 'methods[1].id', /is used twice/],
    ['- { type: details, name: "" }', 'methods[0].name', /must not be empty/],
    [`- { type: details, name: ${'a'.repeat(61)} }`, 'methods[0].name', /at most 60 characters/],
    ['- { type: details, name: "a\\nb" }', 'methods[0].name', /control characters/],
    ['- { type: details, name: "a\\u202eb" }', 'methods[0].name', /reading direction/],
    ['- { type: details, name: 7 }', 'methods[0].name', /must be text/],
    ['- { type: manual, instructions: Pay. }', 'methods[0].name', /is missing: manual needs it/],
    ['- { type: manual, name: Cash }', 'methods[0].instructions', /is missing: manual needs it/],
    ['- { type: manual, name: Cash, instructions: "" }', 'methods[0].instructions', /must not be empty/],
    ['- { type: manual, name: Cash, instructions: "a\\u0007" }', 'methods[0].instructions', /control/],
    [`- { type: manual, name: C, instructions: ${'a'.repeat(2001)} }`, 'methods[0].instructions', /2000/],
    [
      '- { type: manual, name: C, instructions: P, currencies: [EURO] }',
      'methods[0].currencies[0]',
      /ISO 4217/,
    ],
    ['- { type: manual, name: C, instructions: P, currencies: EUR }', 'methods[0].currencies', /a list/],
    ['- { type: details, instructions: P }', 'methods[0].instructions', /is a setting of manual alone/],
    ['- { type: details, currencies: [EUR] }', 'methods[0].currencies', /is a setting of manual alone/],
    [
      '- { type: test_card, accounts: [{ currency: EUR, holder: Shop, rows: [{ label: a, value: b }] }] }',
      'methods[0].accounts',
      /is a setting of bank_transfer alone/,
    ],
    ['- { type: bank_transfer }', 'methods[0].accounts', /is missing: bank_transfer needs it/],
    [
      account('currency: EUR, holder: Shop'),
      'methods[0].accounts[0]',
      /must have an iban, a upi_id, a pix_key or rows/,
    ],
    [account(`currency: XYZ, holder: Shop, ${iban}`), 'methods[0].accounts[0].currency', /ISO 4217/],
    [account(`currency: EUR, ${iban}`), 'methods[0].accounts[0].holder', /is missing/],
    [
      account(`currency: EUR, holder: ${'a'.repeat(71)}, ${iban}`),
      'methods[0].accounts[0].holder',
      /at most 70/,
    ],
    [
      account('currency: EUR, holder: Shop, iban: DE88370400440532013000'),
      'methods[0].accounts[0].iban',
      /check digits/,
    ],
    [
      account(`currency: EUR, holder: Shop, ${iban}, bic: ABC`),
      'methods[0].accounts[0].bic',
      /must be a BIC/,
    ],
    [
      account(`currency: EUR, holder: Shop, ${iban}, upi_id: a@b`),
      'methods[0].accounts[0].upi_id',
      /for INR/,
    ],
    [account('currency: INR, holder: Shop, upi_id: shop'), 'methods[0].accounts[0].upi_id', /name@bank/],
    [
      account(`currency: EUR, holder: Shop, ${iban}, pix_key: a@b.c`),
      'methods[0].accounts[0].pix_key',
      /for BRL/,
    ],
    [account('currency: BRL, holder: Shop, pix_key: "123"'), 'methods[0].accounts[0].pix_key', /PIX key/],
    [
      account('currency: BRL, holder: Shop, pix_key: a@b.com, city: 東京'),
      'methods[0].accounts[0].city',
      /Latin/,
    ],
    [account(swiss), 'methods[0].accounts[0].address', /must be given for a QR-IBAN/],
    [
      account(`${swiss}, address: { street: S, postal_code: "1", city: B, country: Swiss }`),
      'methods[0].accounts[0].address.country',
      /two capital letters/,
    ],
    [
      account(`${swiss}, address: { city: B, country: CH }`),
      'methods[0].accounts[0].address.postal_code',
      /is missing/,
    ],
    [
      account('currency: USD, holder: S, rows: [{ label: A }]'),
      'methods[0].accounts[0].rows[0].value',
      /is missing/,
    ],
    [
      account('currency: USD, holder: S, rows: [{ label: "", value: 1 }]'),
      'methods[0].accounts[0].rows[0].label',
      /must not be empty/,
    ],
    [
      account('currency: USD, holder: S, rows: [{ label: A, value: 123 }]'),
      'methods[0].accounts[0].rows[0].value',
      /must be text/,
    ],
    [
      account('currency: USD, holder: S, rows: [{ lable: A, value: B }]'),
      'methods[0].accounts[0].rows[0].',
      /label/,
    ],
    [
      `- { type: bank_transfer, accounts: [{ currency: EUR, holder: S, ${iban} }, { currency: EUR, holder: S, ${iban} }] }`,
      'methods[0].accounts[1].currency',
      /one for each currency/,
    ],
  ];

  for (const [methods, setting, problem] of FAULTS)
    test(`a fault of ${setting} is told in one line that names it: ${problem.source}.`, () => {
      const text = `environment: development\nmethods:\n  ${methods}\n`;
      assert.throws(
        () => parseConfiguration(text, '/etc/counterfoil.yaml'),
        (error) => {
          assert.ok(error instanceof ConfigurationError, String(error));
          const [, line, told] = /^\/etc\/counterfoil\.yaml:(\d+): ([^\n]+)$/.exec(error.message) ?? [];
          assert.ok(told?.startsWith(setting), error.message);
          assert.match(told!, problem);
          assert.match(line!, /^[234]$/, error.message);
          return true;
        },
      );
    });

  test("a merchant's choice of a method that is not there is told with those that are.", () => {
    const text = `environment: development
merchants:
  - { id: mer_a, name: A, methods: [cash, carp] }
methods:
  - { id: cash, type: manual, name: C, instructions: P }
`;
    assert.throws(() => parseConfiguration(text, '/etc/c.yaml'), {
      message: '/etc/c.yaml:3: merchants[0].methods[1] is no id of a method; there are cash',
    });
    assert.throws(() => parseConfiguration(text.replace('[cash, carp]', '[]'), '/etc/c.yaml'), {
      message: /^\/etc\/c\.yaml:3: merchants\[0\]\.methods must/,
    });
  });

  test('an account is kept as machines write it, and a method is called by its type where it has no id.', () => {
    const { methods } = parseConfiguration(
      `environment: development\nmethods:\n  ${account('currency: EUR, holder: S, iban: de89 3704 0044 0532 0130 00, bic: cobadeffxxx')}\n`,
      '/etc/c.yaml',
    );
    assert.deepEqual(methods, [
      {
        id: 'bank_transfer',
        type: 'bank_transfer',
        name: null,
        instructions: null,
        currencies: null,
        accounts: [
          { currency: 'EUR', holder: 'S', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX', rows: [] },
        ],
      },
    ]);
  });
});

describe('the test card in production', () => {
  let harness: Harness;
  before(async () => {
    const configuration = 'methods:\n  - type: test_card\n  - type: details\n';
    harness = await startHarness('sqlite', { environment: 'production', configuration });
  });
  after(() => harness.close());

  const pageOf = (id: string, query = '') =>
    load(new URL(`/checkout/payment.php?payment_id=${id}${query}`, harness.origin));

  test('does not exist for a live payment: not on its page, not by its address, not in a form.', async () => {
    const { id } = await harness.create({}, { key: LIVE_KEY });
    const page = await pageOf(id);
    assert.deepEqual(page.forms[0]!.fields, ['payer-name', 'payer-email', 'payer-phone', 'note']);
    assert.doesNotMatch(page.text, /card|4242/i);
    assert.equal((await pageOf(id, '&method=test_card')).status, 404);
    const [form] = page.forms;
    form!.action.searchParams.set('method', 'test_card');
    const answer = await send(page, TYPED.card);
    assert.equal(answer.status, 403, 'the token is of the method whose form it was');
    assert.doesNotMatch(answer.text, /4242/);
    const { json } = await harness.request(`/v1/payments/${id}`, { key: LIVE_KEY });
    assert.equal(json.data.status, 'pending');
  });

  test('is there for a test payment, on a page that says that no money will move.', async () => {
    const { id } = await harness.create({}, { key: TEST_KEY_IN_PRODUCTION });
    const page = await pageOf(id);
    assert.ok(page.forms[0]!.fields.includes('card-number'));
    assert.ok(page.body.includes(messagesOf('en').test));
    const { status } = await send(page, TYPED.card, { follow: false });
    assert.equal(status, 303);
  });
});

test('after SIGHUP whoever has sent a form still sees what they were told, and whoever has not sees what is new.', async () => {
  const methods = (iban: string, cash: string) => `methods:
  - type: bank_transfer
    accounts: [{ currency: EUR, holder: Holder of ${iban.slice(-4)}, iban: ${iban} }]
  - { id: cash, type: manual, name: "${cash}", instructions: "${cash}: to the courier." }
`;
  const [first, second] = ['DE89370400440532013000', 'GB82WEST12345698765432'];
  const store = await temporaryStore('sqlite');
  const config = writeConfiguration(store, 'development', methods(first, 'Old cash'));
  const server = await startServerProcess({ config, port: 0, storage: store.storage });
  try {
    // The limits of a process are those of the product: it may be too slow for one answer, or end a connection just then.
    const answered = <T extends { status: number }>(look: () => Promise<T>) =>
      until(
        () =>
          look().catch((error) => {
            if (error instanceof TypeError && error.message === 'fetch failed') return { status: 503 } as T;
            throw error;
          }),
        ({ status }) => status !== 503,
      );
    const create = async () => {
      const body = { amount: 1, currency: 'EUR' };
      const { json } = await answered(() => ask(server.origin, '/v1/payments', { method: 'POST', body }));
      return json.data.id as string;
    };
    const open = (id: string, method: string) =>
      answered(() => load(new URL(`${server.origin}/payment.php?payment_id=${id}&method=${method}`)));
    const sent = (...form: Parameters<typeof send>) => answered(() => send(...form));
    const reread = async (text: string) => {
      const said = server.output.length;
      writeFileSync(config, text);
      server.child.kill('SIGHUP');
      while (!server.output.slice(said).some((line) => line.includes('were read again'))) await delay(20);
    };
    const [transfer, cash, waiting] = [await create(), await create(), await create()] as const;
    await sent(await open(transfer, 'bank_transfer'), TYPED.transfer);
    await sent(await open(cash, 'cash'), TYPED.cash);
    const opened = await open(waiting, 'bank_transfer');
    const shown = (await open(transfer, 'bank_transfer')).text;
    assert.ok(shown.includes('DE89 3704 0044 0532 0130 00'));
    const shownCash = (await open(cash, 'cash')).text;
    assert.ok(shownCash.includes('Old cash: to the courier.'));

    const head = readFileSync(config, 'utf8').split('methods:')[0]!;
    await reread(head + methods(second, 'New cash'));
    assert.equal((await open(transfer, 'bank_transfer')).text, shown);
    assert.equal((await open(cash, 'cash')).text, shownCash);
    const now = await open(waiting, 'bank_transfer');
    assert.ok(now.text.includes('GB82 WEST 1234 5698 7654 32') && !now.text.includes('DE89'));
    assert.ok((await open(waiting, 'cash')).text.includes('New cash: to the courier.'));

    await reread(`${head}methods: []\n`);
    assert.equal((await open(transfer, 'bank_transfer')).text, shown);
    assert.equal((await open(cash, 'cash')).text, shownCash);
    await sent(opened, TYPED.transfer);
    const gone = await open(waiting, 'bank_transfer');
    assert.equal(gone.h1, 'Waiting for your transfer', 'who sent the money is heard, though the way is gone');
  } finally {
    await server.end('SIGTERM');
    await store.drop();
  }
});
