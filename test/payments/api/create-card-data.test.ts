// Card data is refused wherever it stands in a request for a payment, and never repeated.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isWhole } from '../../support/extent.ts';
import { assertLinear } from '../../support/growth.ts';
import { sharedHarness } from '../../support/harness.ts';

/** Published test numbers of the brands. */
const CARD_NUMBERS = [
  '4242424242424242',
  '4000056655665556',
  '5555555555554444',
  '2223003122003222',
  '378282246310005',
  '6011111111111117',
  '36227206271667',
  '3566002020360505',
  '6200000000000005',
];

describe('card data', () => {
  const service = sharedHarness('sqlite');

  /** Sends fields that must be refused for exactly `paths`, repeating nothing of `secret`. */
  async function assertRefused(fields: object, paths: string[], secret = 'SECRET'): Promise<void> {
    const label = JSON.stringify(fields).slice(0, 100);
    const answer = await service.request('/v1/payments', {
      method: 'POST',
      body: { amount: 1, ...fields },
    });
    assert.equal(answer.status, 422, label);
    assert.equal(answer.json.error.code, 'validation_failed', label);
    assert.deepEqual(Object.keys(answer.json.error.details).sort(), [...paths].sort(), label);
    assert.ok(!answer.text.includes(secret), answer.text);
  }

  test('a field named like card data is refused at the top, in any case, with -, _ and spaces ignored.', async () => {
    const names =
      `card card_number cardNumber CARD-NUMBER pan PAN primary_account_number cvv CVV2 cvc cvc2 csc
        security_code securityCode credit_card debitCard expiry expiry_date expiryMonth exp_month exp_year expiration_date
        card_expiry card-cvc number_of_nothing`.split(/\s+/);
    names.pop();
    for (const name of [...names, 'card number', ' C v V ', 'c_v-v'])
      await assertRefused({ [name]: 'SECRET' }, [/^[\w -]+$/.test(name) ? name : '*']);
  });

  test('a field named like card data is refused at any depth, and its path is told.', async () => {
    await assertRefused({ customer: { cvv: 'SECRET' } }, ['customer.cvv']);
    await assertRefused({ metadata: { a: { pan: 'SECRET' } } }, ['metadata.a.pan']);
    await assertRefused({ unknown: [{ x: [{ card: null }] }] }, ['unknown.0.x.0.card']);
    await assertRefused({ cvc: 1, metadata: { cvc: 2 } }, ['cvc', 'metadata.cvc']);
  });

  test('names that merely resemble card data are taken.', async () => {
    await service.create({
      metadata: { cardinal: 1, discard: 1, gift_card_id: 'x', company: 'y', expires: 1, panel: 1 },
    });
  });

  for (const [nth, number] of CARD_NUMBERS.entries()) {
    test(`the card number ${number} is refused in free text, whole or with spaces, dashes, dots, slashes and invisible characters between.`, async () => {
      const fours = number.replace(/(.{4})(?=.)/g, '$1 ');
      const forms = [
        number,
        fours,
        fours.replaceAll(' ', '-'),
        fours.replaceAll(' ', '\u00a0'),
        [...number].join(' '),
        ...['.', '/', '·', '•', ' . ', ' / ', '\u200b', '\u00ad', '\u2060', '.\u200b', ' \u200b-'].map(
          (between) => fours.replaceAll(' ', between),
        ),
        [...number].join('\u200b'),
        [...number].join('.'),
      ];
      forms.push(fours.replaceAll(' ', '  - '), `card:${fours}!`, `17 ${fours} 99`);
      for (const [index, form] of forms.entries()) {
        const places: [object, string][] = [
          [{ description: form }, 'description'],
          [{ customer: { name: form } }, 'customer.name'],
          [{ metadata: { a: ['x', form] } }, 'metadata.a.1'],
        ];
        // In `npm test` each form of a number in one place, and that of the next number in the next.
        const turn = (nth + index) % places.length;
        for (const [fields, place] of isWhole ? places : [places[turn]!])
          await assertRefused(fields, [place], form);
      }
      await assertRefused({ description: fours.replaceAll(' ', '\n') }, ['description'], number);
    });
  }

  test('digits of other scripts are digits.', async () => {
    for (const zero of ['０', '٠', '०']) {
      const text = [...CARD_NUMBERS[0]!]
        .map((digit) => String.fromCodePoint(zero.codePointAt(0)! + Number(digit)))
        .join('');
      await assertRefused({ description: text }, ['description'], text);
    }
  });

  test('a card number is refused as a number and as a name in metadata, and the name is not repeated.', async () => {
    const [number] = CARD_NUMBERS as [string];
    await assertRefused({ metadata: { id: Number(number) } }, ['metadata.id'], number);
    await assertRefused({ metadata: { [number]: 1 } }, ['metadata.*'], number);
    await assertRefused(
      { metadata: { a: { [number]: { cvv: 1 } } } },
      ['metadata.a.*', 'metadata.a.*.cvv'],
      number,
    );
  });

  test('numbers that are no card numbers are taken.', async () => {
    const taken = [
      '4242424242424241',
      '424242424242',
      '42424242424242424242',
      '0000000000000000',
      '9999999999999995',
    ];
    for (const text of [...taken, '4242 4242 x 4242 4242', '2026-11-20 12:00:00.000', '+49 170 1234567'])
      await service.create({ description: text, customer: { name: text }, metadata: { text } });
  });

  test('dates, addresses, versions, prices and other honest texts are taken.', async () => {
    const taken = [
      'Invoice 2026.11.21.0001',
      'Invoice 2026/11/21/0001',
      '2026-11-21T03:11:09.123456789+00:00',
      '20261121T031109.123Z',
      'Stay 30.11.2026 - 05.12.2026',
      'Stay 30/11/2026 – 18/12/2026',
      '192.168.100.200/24, 255.255.255.255',
      '62.138.100.200/24',
      '192.168.100.200 192.168.100.201',
      'Version 4.18.0.20261121',
      '4.50 3.20 4.99 12.00 5.13',
      '+49.170.1234567 / +49.170.7654321',
      '+1 (415) 555-0132 / +1 (415) 555-0199',
      'ISBN 978-3-16-148410-0',
      'RF18 5390 0754 7034',
      'Order 1/2/3/4/5/6/7/8/9',
    ];
    for (const text of taken) await service.create({ description: text, metadata: { text } });
  });

  test('merchant_reference and customer.phone are exempt, since any digits may stand there.', async () => {
    const [number] = CARD_NUMBERS as [string];
    const payment = await service.create({ merchant_reference: number, customer: { phone: number } });
    assert.equal(payment.merchant_reference, number);
    assert.equal(payment.customer.phone, number);
  });

  test('no fault ever repeats a value.', async () => {
    const fields = {
      currency: 'SECRET',
      merchant_reference: 'SECRET\0',
      description: 'SECRET\0',
      return_url: 'SECRET',
      cancel_url: 'SECRET',
      customer: { name: 'SECRET\0', email: 'SECRET', phone: 'SECRET\0' },
      metadata: 'SECRET',
      expires_in: 'SECRET',
    };
    await assertRefused({ ...fields, amount: 'SECRET' }, [
      'amount',
      'currency',
      'merchant_reference',
      'description',
      'return_url',
      'cancel_url',
      'customer.name',
      'customer.email',
      'customer.phone',
      'metadata',
      'expires_in',
    ]);
  });

  test('searching the worst body for card data costs no more than it is long.', async () => {
    const names = (count: number) =>
      Array.from({ length: count }, (_, i) => `"c${'-'.repeat(i % 40)}v${'_'.repeat(i / 40)}v":0`).join();
    const digits = (count: number) => '4 '.repeat(count);
    const bodies: Record<string, [(count: number) => string, number]> = {
      names: [(count) => `"x":${'{"a":'.repeat(90)}{${names(count)}}${'}'.repeat(90)}`, 1300],
      text: [(count) => `"metadata":{"a":"${digits(count)}"}`, 8000],
      'a name': [(count) => `"metadata":{"${digits(count)}":1}`, 32_000],
    };
    for (const [label, [fields, length]] of Object.entries(bodies))
      await assertLinear(
        async (count) => {
          const body = `{"amount":1,"currency":"none",${fields(count)}}`;
          const { status } = await service.request('/v1/payments', { method: 'POST', body });
          assert.equal(status, 422);
        },
        length,
        label,
      );
  });
});
