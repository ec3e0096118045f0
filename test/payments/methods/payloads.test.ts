// The texts of payment codes: the standards' own examples, and their limits under any name and amount.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  crc16,
  epcPayload,
  isPixKey,
  isUpiId,
  pixPayload,
  upiPayload,
} from '../../../src/payments/methods/transfer/quick-pay.ts';
import { isSwissText, swissPayload } from '../../../src/payments/methods/transfer/swiss.ts';

const REFERENCE = 'RF18539007547034';
const anyName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 120 }),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.constantFrom(
    '𝔘'.repeat(90),
    'Ünïcödé '.repeat(20),
    '株式会社'.repeat(30),
    'ООО «Ромашка»',
    'a\nb',
    '\ud800',
  ),
);
const anyAmount = fc.integer({ min: 1, max: 99_999_999_999 });

const belgian = {
  holder: 'Red Cross of Belgium',
  iban: 'BE72000000001616',
  bic: 'BPOTBEB1',
  reference: REFERENCE,
};

const biel = { street: 'Rue du Lac', building: '1268', postal_code: '2501', city: 'Biel', country: 'CH' };
const swiss = { holder: 'Robert Schneider AG', address: biel, amount_minor: 199_95, currency: 'CHF' };
const withIban = { ...swiss, iban: 'CH5800791123000889012', reference: REFERENCE };
const withQrIban = { ...swiss, iban: 'CH4431999123000889012', reference: '210000000003139471430009017' };

const fulano = {
  holder: 'Fulano de Tal',
  city: 'BRASILIA',
  pix_key: '123e4567-e12b-12d1-a456-426655440000',
  reference: '***',
};

test('the EPC code of the Red Cross reads as the guidelines lay it out', () => {
  assert.equal(
    epcPayload({ ...belgian, amount_minor: 100 }),
    `BCD\n002\n1\nSCT\nBPOTBEB1\nRed Cross of Belgium\nBE72000000001616\nEUR1.00\n\n${REFERENCE}`,
  );
});

test('an EPC code needs an amount of 0.01 to 999999999.99, a name, and a BIC outside the economic area', () => {
  for (const amount_minor of [0, 100_000_000_000])
    assert.equal(epcPayload({ ...belgian, amount_minor }), undefined);
  assert.equal(epcPayload({ ...belgian, amount_minor: 1, holder: ' \n' }), undefined);
  assert.ok(epcPayload({ ...belgian, amount_minor: 1, bic: undefined }));
  const british = { ...belgian, amount_minor: 1, iban: 'GB29NWBK60161331926819' };
  assert.ok(epcPayload(british));
  assert.equal(epcPayload({ ...british, bic: undefined }), undefined);
});

test('no name and no amount breaks the lines, the 70 characters or the 331 bytes of an EPC code', () => {
  fc.assert(
    fc.property(anyName, anyAmount, (holder, amount_minor) => {
      const text = epcPayload({
        ...belgian,
        iban: 'MT84MALT011000012345MTLCAST001S',
        bic: 'BPOTBEB1XXX',
        holder,
        amount_minor,
      });
      if (text === undefined) return;
      assert.ok(Buffer.byteLength(text) <= 331);
      assert.ok(text.isWellFormed());
      const lines = text.split('\n');
      assert.equal(lines.length, 10);
      assert.ok([...lines[5]!].length <= 70);
      assert.match(lines[7]!, /^EUR(0|[1-9]\d{0,8})\.\d\d$/);
    }),
  );
});

test('the Swiss code has the 31 lines of the guidelines, with either kind of reference', () => {
  const lines = (type: string, iban: string, reference: string) =>
    ['SPC', '0200', '1', iban, 'S', 'Robert Schneider AG', 'Rue du Lac', '1268', '2501', 'Biel', 'CH']
      .concat(Array(7).fill(''), '199.95', 'CHF', Array(7).fill(''), type, reference, '', 'EPD')
      .join('\n');
  assert.equal(swissPayload(withIban), lines('SCOR', withIban.iban, REFERENCE));
  assert.equal(swissPayload(withQrIban), lines('QRR', withQrIban.iban, withQrIban.reference));
  assert.equal(swissPayload(withIban)!.split('\n').length, 31);
  const village = { postal_code: '3999', city: 'Oberwald', country: 'CH' };
  assert.deepEqual(
    swissPayload({ ...withIban, address: village })!
      .split('\n')
      .slice(4, 11),
    ['S', 'Robert Schneider AG', '', '', '3999', 'Oberwald', 'CH'],
    'a place without streets',
  );
});

test('a Swiss code is refused the wrong kind of reference, currency, country, amount or script', () => {
  for (const wrong of [
    { ...withIban, reference: withQrIban.reference },
    { ...withQrIban, reference: REFERENCE },
    { ...withQrIban, reference: '210000000003139471430009018' },
    { ...withIban, currency: 'USD' },
    { ...withIban, iban: 'DE89370400440532013000' },
    { ...withIban, amount_minor: 0 },
    { ...withIban, amount_minor: 100_000_000_000 },
    { ...withIban, holder: 'ООО «Ромашка»' },
    { ...withIban, address: { ...biel, city: '' } },
  ])
    assert.equal(swissPayload(wrong), undefined);
});

test('no name, message or amount breaks the lines or the characters of a Swiss code', () => {
  fc.assert(
    fc.property(anyName, anyName, anyAmount, (holder, message, amount_minor) => {
      const lines = swissPayload({ ...withIban, holder, message, amount_minor })?.split('\n');
      if (!lines) return;
      assert.equal(lines.length, 31);
      assert.ok(lines.every(isSwissText));
      assert.ok([...lines[5]!].length <= 70 && [...lines[29]!].length <= 140);
    }),
  );
});

test('a UPI link keeps every name whole, its note to 50 characters, and writes no plus', () => {
  assert.equal(
    upiPayload({
      holder: 'Chai & Co',
      upi_id: 'chai@okaxis',
      amount_minor: 14950,
      reference: REFERENCE,
      message: 'A 1',
    }),
    `upi://pay?pa=chai@okaxis&pn=Chai%20%26%20Co&am=149.50&cu=INR&tn=${REFERENCE}%20A%201&tr=${REFERENCE}`,
  );
  fc.assert(
    fc.property(anyName, anyName, anyAmount, (holder, message, amount_minor) => {
      const text = upiPayload({ holder, upi_id: 'a@b1', amount_minor, reference: REFERENCE, message });
      assert.match(text, /^[!-*,-~]+$/);
      const query = new URL(text).searchParams;
      assert.deepEqual([...query.keys()], ['pa', 'pn', 'am', 'cu', 'tn', 'tr']);
      assert.ok([...query.get('tn')!].length <= 50);
      assert.match(query.get('am')!, /^\d+\.\d\d$/);
    }),
  );
});

test('a UPI id is a name and a handle', () => {
  for (const id of ['chai@okaxis', 'a.b-c_9@ybl', '9876543210@upi']) assert.ok(isUpiId(id), id);
  for (const id of ['chai', 'a@b.c', '@ybl', 'a b@ybl', 'a&am=1@ybl', 'a@9y']) assert.ok(!isUpiId(id), id);
});

test("the PIX code of the central bank's manual comes out to the letter", () => {
  assert.equal(
    pixPayload(fulano),
    '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
  );
  assert.equal(crc16('123456789'), '29B1'); // the check value of CRC-16/CCITT-FALSE
});

/** The elements of EMV TLV, by id. */
function elements(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const end = at + 4 + Number(text.slice(at + 2, at + 4));
    found.set(text.slice(at, at + 2), text.slice(at + 4, end));
    at = end;
  }
  return found;
}

test('no name, town or amount breaks the elements of a PIX code', () => {
  fc.assert(
    fc.property(anyName, anyName, anyAmount, (holder, city, amount_minor) => {
      const text = pixPayload({ ...fulano, holder, city, amount_minor, reference: 'RF18539007547034' });
      if (text === undefined) return;
      assert.match(text, /^[ -~]+$/);
      const found = elements(text);
      assert.deepEqual([...found.keys()], ['00', '26', '52', '53', '54', '58', '59', '60', '62', '63']);
      assert.ok(found.get('59')!.length <= 25 && found.get('60')!.length <= 15);
      assert.match(found.get('54')!, /^\d{1,9}\.\d\d$/);
      assert.equal(found.get('63'), crc16(text.slice(0, -4)));
    }),
  );
});

test('PIX names lose their accents, not their letters, and a transaction id its chance to be anything else', () => {
  const found = elements(pixPayload({ ...fulano, holder: 'José da Conceição', city: 'São Paulo' })!);
  assert.deepEqual([found.get('59'), found.get('60')], ['Jose da Conceicao', 'Sao Paulo']);
  assert.equal(pixPayload({ ...fulano, reference: 'a b' }), undefined);
  assert.equal(pixPayload({ ...fulano, amount_minor: 1_000_000_000_000 }), undefined);
  assert.equal(pixPayload({ ...fulano, holder: '株式会社' }), undefined);
});

test('a PIX key is told by its form and its check digits', () => {
  const random = fulano.pix_key;
  for (const key of [
    '52998224725',
    '11222333000181',
    '12ABC34501DE35',
    'a@b.com.br',
    '+5511987654321',
    random,
  ])
    assert.ok(isPixKey(key), key);
  for (const key of [
    '52998224724',
    '11111111111',
    '11222333000180',
    '12ABC34501DE36',
    '529.982.247-25',
    'A@b.com',
    '+5501987654321',
    '+14155552671',
    '',
  ])
    assert.ok(!isPixKey(key), key);
});
