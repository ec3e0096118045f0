// Each account gets the codes that serve its currency, and faults of its configuration are named.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCreditorReference } from '../../../src/payments/methods/transfer/creditor-reference.ts';
import {
  accountFault,
  quickPayment,
  transferReference,
} from '../../../src/payments/methods/transfer/quick-pay.ts';

type Account = Parameters<typeof quickPayment>[0];

const address = { street: 'Rue du Lac', postal_code: '2501', city: 'Biel', country: 'CH' };
const SWISS = 'CH5800791123000889012';
const QR_IBAN = 'CH4431999123000889012';
const GERMAN = 'DE89370400440532013000';
const HOLDER = { holder: 'Muster AG' };

const payment = (currency: string, amount_minor = 4990) => ({
  id: 'pay_01k5zzzzzzabcdefghjkmnpqrstvwxyz012345',
  salt: 'salt',
  amount_minor,
  currency,
  merchant_reference: null,
});
const schemeOf = (account: Omit<Account, 'holder'>, amount_minor?: number) =>
  quickPayment({ ...HOLDER, ...account }, payment(account.currency, amount_minor))?.scheme;

test('currency and account decide which code there is', () => {
  assert.equal(schemeOf({ currency: 'EUR', iban: GERMAN }), 'epc');
  assert.equal(schemeOf({ currency: 'EUR', iban: SWISS, bic: 'POFICHBEXXX', address }), 'epc');
  assert.equal(schemeOf({ currency: 'EUR', iban: SWISS, address }), 'swiss');
  assert.equal(schemeOf({ currency: 'EUR', iban: QR_IBAN, bic: 'POFICHBEXXX', address }), 'swiss');
  assert.equal(schemeOf({ currency: 'CHF', iban: SWISS, address }), 'swiss');
  assert.equal(schemeOf({ currency: 'CHF', iban: SWISS }), undefined);
  assert.equal(schemeOf({ currency: 'USD', iban: GERMAN }), undefined);
  assert.equal(schemeOf({ currency: 'EUR', iban: 'BR1800360305000010009795493C1' }), undefined);
  assert.equal(schemeOf({ currency: 'INR', upi_id: 'a@ybl' }), 'upi');
  assert.equal(schemeOf({ currency: 'BRL', pix_key: '52998224725' }), undefined);
  assert.equal(schemeOf({ currency: 'BRL', pix_key: '52998224725', city: 'Natal' }), 'pix');
  assert.equal(schemeOf({ currency: 'EUR', iban: GERMAN }, 100_000_000_000), undefined);
  assert.equal(quickPayment({ ...HOLDER, currency: 'CHF', iban: GERMAN }, payment('EUR')), undefined);
});

test('the codes of UPI and PIX carry the reference that is shown', () => {
  const upi: Account = { ...HOLDER, currency: 'INR', upi_id: 'a@ybl' };
  const pix: Account = { ...HOLDER, currency: 'BRL', pix_key: '52998224725', city: 'Natal' };
  for (const account of [upi, pix]) {
    const asked = payment(account.currency);
    assert.ok(quickPayment(account, asked)?.payload.includes(transferReference(account, asked)));
  }
});

test('a QR-IBAN gets a QR reference, every other account one of ISO 11649', () => {
  const of = (iban: string) => transferReference({ ...HOLDER, currency: 'CHF', iban }, payment('CHF'));
  assert.match(of('CH44 3199 9123 0008 8901 2'), /^\d{27}$/);
  assert.ok(isCreditorReference(of(SWISS)));
  assert.ok(isCreditorReference(transferReference({ ...HOLDER, currency: 'USD' }, payment('USD'))));
  assert.equal(transferReference({ ...HOLDER, currency: 'GBP' }, payment('GBP')).length, 17);
});

test('no code shows a random character of the id', () => {
  const { id } = payment('EUR');
  for (const account of [
    { currency: 'EUR', iban: GERMAN },
    { currency: 'CHF', iban: QR_IBAN, address },
  ]) {
    const code = quickPayment({ ...HOLDER, ...account }, payment(account.currency));
    assert.ok(!code!.payload.toLowerCase().includes(id.slice(14, 19)));
  }
});

test('a fault of an account names its field and what it must be', () => {
  const faulty: [field: string, account: Omit<Account, 'holder'>][] = [
    ['iban', { currency: 'EUR', iban: 'DE89370400440532013001' }],
    ['iban', { currency: 'EUR', iban: '' }],
    ['iban', { currency: 'USD', iban: QR_IBAN, address }],
    ['address', { currency: 'CHF', iban: QR_IBAN }],
    ['address', { currency: 'CHF', iban: SWISS, address: { ...address, city: 'Биль' } }],
    ['bic', { currency: 'EUR', iban: GERMAN, bic: 'ABN4NL2A' }],
    ['upi_id', { currency: 'INR', upi_id: 'a b@ybl' }],
    ['upi_id', { currency: 'EUR', upi_id: 'a@ybl' }],
    ['pix_key', { currency: 'BRL', pix_key: '52998224724' }],
    ['pix_key', { currency: 'EUR', pix_key: '52998224725' }],
    ['city', { currency: 'BRL', pix_key: '52998224725', city: '東京' }],
  ];
  for (const [field, account] of faulty) {
    const fault = accountFault({ ...HOLDER, ...account });
    assert.equal(fault?.field, field);
    assert.match(fault.problem, /^must be /);
  }
  assert.equal(accountFault({ holder: 'ООО', currency: 'CHF', iban: SWISS, address })?.field, 'holder');
});

test('a right account has no fault', () => {
  for (const account of [
    { currency: 'EUR', iban: 'DE89 3704 0044 0532 0130 00', bic: 'COBADEFFXXX' },
    { currency: 'CHF', iban: QR_IBAN, address },
    { currency: 'INR', upi_id: 'a@ybl' },
    { currency: 'BRL', pix_key: '52998224725', city: 'São Paulo' },
    { currency: 'USD', rows: [{ label: 'Account number', value: '1' }] },
  ])
    assert.equal(accountFault({ ...HOLDER, ...account }), undefined);
});
