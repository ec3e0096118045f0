// References keep their check digits, give nothing of the id's secret away, and lead back to their payment.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  calculateQRReferenceChecksum,
  calculateSCORReferenceChecksum,
  formatQRReference,
  isQRReferenceValid,
  isSCORReferenceValid,
} from 'swissqrbill/utils';
import { timeOrderedId } from '../../../src/lib/ids.ts';
import {
  creditorReference,
  grouped,
  idRangeOf,
  isCreditorReference,
  isQrReference,
  qrReference,
  shortReference,
} from '../../../src/payments/methods/transfer/creditor-reference.ts';
import { isWhole } from '../../support/extent.ts';

const payments = fc.record({
  id: fc.stringMatching(/^pay_[0-9a-hjkmnp-tv-z]{36}$/),
  salt: fc.string(),
});

/** ISO 7064 mod 97-10, the long way. */
function remainder97(reference: string): bigint {
  const digits = (reference.slice(4) + reference.slice(0, 4)).replace(/[A-Z]/g, (c) =>
    String(c.charCodeAt(0) - 55),
  );
  return BigInt(digits) % 97n;
}

const contains = (range: [string, string] | undefined, id: string) =>
  range !== undefined && range[0] <= id && id < range[1];

test('the reference of the guidelines is right, in any letter case and spacing, and wrong with any digit changed', () => {
  for (const text of ['RF18539007547034', 'RF18 5390 0754 7034', 'rf18539007547034'])
    assert.ok(isCreditorReference(text), text);
  for (const text of ['RF18539007547035', 'RF19539007547034', 'RF18', '', '18539007547034'])
    assert.ok(!isCreditorReference(text), text);
});

test('every reference is nineteen characters of time and tag whose check digits are right', () => {
  fc.assert(
    fc.property(payments, (payment) => {
      const reference = creditorReference(payment);
      assert.match(reference, /^RF\d\d[0-9A-HJKMNP-TV-Z]{15}$/);
      assert.equal(remainder97(reference), 1n);
      assert.ok(isCreditorReference(grouped(reference).toLowerCase()));
      assert.equal(reference.slice(4, 14), payment.id.slice(4, 14).toUpperCase());
    }),
  );
});

test('check digits and their judgement are those of the swissqrbill package', () => {
  const bodies = fc.stringMatching(/^[0-9A-Z]{1,21}$/);
  fc.assert(
    fc.property(bodies, fc.stringMatching(/^\d{26}$/), fc.stringMatching(/^\d\d$/), (body, digits, check) => {
      const right = `RF${calculateSCORReferenceChecksum(body)}${body}`;
      assert.ok(isCreditorReference(right));
      assert.equal(isCreditorReference(`RF${check}${body}`), isSCORReferenceValid(`RF${check}${body}`));
      const reference = digits + calculateQRReferenceChecksum(digits);
      assert.ok(isQrReference(reference));
      assert.equal(isQrReference(digits + check[0]), isQRReferenceValid(digits + check[0]));
      assert.equal(grouped(reference), formatQRReference(reference));
    }),
    { numRuns: isWhole ? 2000 : 500 },
  );
});

test('every QR reference is 27 digits whose check digit is right, and says the same as the other', () => {
  assert.equal(idRangeOf('210000000003139471430009018'), undefined);
  fc.assert(
    fc.property(payments, (payment) => {
      const reference = qrReference(payment);
      assert.match(reference, /^0{3}\d{24}$/);
      assert.deepEqual(idRangeOf(reference), idRangeOf(creditorReference(payment)));
      const wrongDigit = (Number(reference[26]) + 1) % 10;
      assert.equal(idRangeOf(reference.slice(0, 26) + wrongDigit), undefined);
    }),
  );
});

test('the short reference fits 18 characters, is shown without spaces, and finds no payment with another digit or letter in it', () => {
  fc.assert(
    fc.property(payments, fc.nat(16), (payment, at) => {
      const reference = shortReference(payment);
      assert.equal(`RF${reference}`, creditorReference(payment));
      assert.ok(grouped(reference).length <= 18);
      assert.deepEqual(idRangeOf(reference.toLowerCase()), idRangeOf(creditorReference(payment)));
      const [one, next] = /\d/.test(reference[at]!) ? ['7', '8'] : ['X', 'Y'];
      const other = reference[at] === one ? next : one;
      assert.equal(idRangeOf(reference.slice(0, at) + other + reference.slice(at + 1)), undefined);
    }),
  );
});

test('the tag tells payments of one millisecond apart and hangs on the salt', () => {
  const [one, other] = [timeOrderedId('pay_', 1_790_000_000_000), timeOrderedId('pay_', 1_790_000_000_000)];
  const references = [
    creditorReference({ id: one, salt: 'a' }),
    creditorReference({ id: one, salt: 'b' }),
    creditorReference({ id: other, salt: 'a' }),
  ];
  assert.equal(new Set(references).size, 3);
});

const MANY = isWhole ? 100_000 : 5000;
test(`${MANY} payments of three milliseconds are found by the range of their reference`, () => {
  const ids = Array.from({ length: MANY }, (_, i) => timeOrderedId('pay_', 1_790_000_000_031 + (i % 3)));
  for (const id of ids) {
    const payment = { id, salt: 'salt' };
    const range = idRangeOf(creditorReference(payment));
    assert.ok(contains(range, id));
    assert.ok(contains(idRangeOf(qrReference(payment)), id));
  }
  const [first, next] = [ids[0]!, ids[1]!];
  assert.ok(!contains(idRangeOf(creditorReference({ id: first, salt: 'salt' })), next));
});

test('a reference that no payment can have has no range', () => {
  for (const text of ['', 'RF18539007547034', 'RF18', 'pay_', '210000000003139471430009017', '0'.repeat(26)])
    assert.equal(idRangeOf(text), undefined, text);
});

test('people read references in fours, and QR references in fives', () => {
  assert.equal(grouped('RF18539007547034'), 'RF18 5390 0754 7034');
  assert.equal(grouped('DE89370400440532013000'), 'DE89 3704 0044 0532 0130 00');
  assert.equal(grouped('210000000003139471430009017'), '21 00000 00003 13947 14300 09017');
});
