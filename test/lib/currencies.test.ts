// The vendored list of currencies is whole, and says of each whether it has a smaller unit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODES_BY_DECIMALS } from '../../src/lib/currencies.ts';
import { hasMinorUnit, isCurrency } from '../../src/lib/money.ts';

const listed = Object.values(CODES_BY_DECIMALS).flatMap((codes) => codes.trim().split(/\s+/));

test('each code stands in the list once, and the Unicode data of this Node knows it', () => {
  const names = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });
  assert.equal(new Set(listed).size, listed.length);
  assert.deepEqual(
    listed.filter((code) => !names.of(code)),
    [],
  );
  assert.ok(listed.length > 170, `${listed.length} codes`);
});

test('each code of the list is a currency to pay in, but those that stand for none', () => {
  for (const code of listed) assert.equal(isCurrency(code), code !== 'XXX' && code !== 'XTS', code);
  for (const code of ['', 'usd', 'DEM', 'ZZZ', 'US', 'EURO', 'constructor'])
    assert.ok(!isCurrency(code), code);
});

test('yen and the like have no smaller unit; dollars, dinars and units of account have one', () => {
  for (const code of ['JPY', 'KRW', 'VND', 'ISK', 'CLP', 'XAU']) assert.ok(!hasMinorUnit(code), code);
  for (const code of ['USD', 'EUR', 'KWD', 'CLF']) assert.ok(hasMinorUnit(code), code);
});
