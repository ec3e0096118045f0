// The vendored list of currencies is whole and recent, and says of each whether it has a smaller unit.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CODES_BY_DECIMALS, CURRENCIES_AS_OF } from '../../src/lib/currencies.ts';
import { hasMinorUnit, isCurrency } from '../../src/lib/money.ts';
import { DAY_MS, SECOND_MS } from '../../src/lib/time.ts';
import { ROOT } from '../support/command.ts';

const listed = Object.values(CODES_BY_DECIMALS).flatMap((codes) => codes.trim().split(/\s+/));

test('each code stands in the list once, and the Unicode data of this Node knows it', () => {
  const names = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });
  assert.equal(new Set(listed).size, listed.length);
  assert.deepEqual(
    listed.filter((code) => !names.of(code)),
    [],
  );
  assert.ok(listed.length > 150, `${listed.length} codes`);
});

test('each code of the list is a currency, and nothing else is', () => {
  for (const code of listed) assert.ok(isCurrency(code), code);
  for (const code of ['', 'usd', 'DEM', 'ZZZ', 'US', 'EURO', 'constructor'])
    assert.ok(!isCurrency(code), code);
});

test('the Caribbean guilder is in; currencies that ended, funds, metals and test codes are out', () => {
  for (const code of ['XCG', 'XAF', 'XOF', 'XPF', 'XCD', 'SVC', 'VED']) assert.ok(isCurrency(code), code);
  const ended = ['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL'];
  const funds = ['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW', 'XDR', 'XSU', 'XUA'];
  const metalsAndTests = ['XAG', 'XAU', 'XPD', 'XPT', 'XBA', 'XBB', 'XBC', 'XBD', 'XTS', 'XXX'];
  for (const code of [...ended, ...funds, ...metalsAndTests]) assert.ok(!isCurrency(code), code);
});

test('yen and the like have no smaller unit; dollars, dinars and guilders have one', () => {
  for (const code of ['JPY', 'KRW', 'VND', 'ISK', 'CLP']) assert.ok(!hasMinorUnit(code), code);
  for (const code of ['USD', 'EUR', 'KWD', 'HUF', 'XCG']) assert.ok(hasMinorUnit(code), code);
});

test('the list is at most a year old: else run scripts/write-currencies.ts', () => {
  // Who builds old sources sets the day of those, as https://reproducible-builds.org/specs/source-date-epoch/ has it.
  const { SOURCE_DATE_EPOCH: sources } = process.env;
  const today = sources === undefined ? Date.now() : Number(sources) * SECOND_MS;
  const ageDays = (today - Date.parse(CURRENCIES_AS_OF)) / DAY_MS;
  assert.ok(ageDays < 366, `${ageDays} days`);
  assert.ok(
    readFileSync(join(ROOT, 'docs/integrate/payments.md'), 'utf8').includes(`as of ${CURRENCIES_AS_OF}`),
  );
});
