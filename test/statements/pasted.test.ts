// Lists that a bookkeeper pastes: columns of every kind, amounts and days as banks show them, and rows that say too little or too much.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readPasted } from '../../src/statements/pasted.ts';
import { ACCOUNT } from '../support/camt.ts';

const OPTIONS = { account: { iban: ACCOUNT }, currency: 'EUR', file: 'pasted by Ana', today: '2026-11-25' };
const read = (text: string, more: object = {}) => readPasted(text, { ...OPTIONS, ...more }).rows;
/** Day, signed hundredths, name and text of each row, or why it is none. */
const told = (text: string, more: object = {}) =>
  read(text, more).map(({ line, fault }) =>
    line
      ? [
          line.bookingDay ?? '',
          line.direction === 'debit' ? -line.amountMinor : line.amountMinor,
          line.counterparty.name ?? '',
          line.text,
        ]
      : fault,
  );

const ROWS: [written: string, expected: unknown[]][] = [
  [
    '20.11.2026\tZoë Berg\tRF18 5390 0754 7034\t1.200,00 €',
    ['2026-11-20', 120000, 'Zoë Berg', 'RF18 5390 0754 7034'],
  ],
  ['2026-11-20;RF18539007547034;"Zoë";49,90;EUR', ['2026-11-20', 4990, '"Zoë"', 'RF18539007547034']],
  ['Zoë Berg    ORDER-17    49.90', ['', 4990, 'Zoë Berg', 'ORDER-17']],
  ['Zoë Berg ORDER-17 49.90', ['', 4990, 'Zoë Berg', 'Zoë Berg ORDER-17']],
  ['20 Nov 2026 EUR 1,200.00 RF18 5390 0754 7034', ['2026-11-20', 120000, '', 'RF18 5390 0754 7034']],
  ['49.90 RF18539007547034\u00a0', ['', 4990, '', 'RF18539007547034']],
  ["Berg;CHF 1'200.00", ['It is in CHF, the account in EUR.']],
  ['Berg;1 200,00', ['', 120000, 'Berg', '']],
  ['Berg;1\u202f200,00;S', ['', -120000, 'Berg', '']],
  ['Berg\t120', ['', 12000, 'Berg', '']],
  ['Berg 120 EUR', ['', 12000, 'Berg', 'Berg']],
  ['20.11.2026;21.11.2026;Berg;(49,90)', ['2026-11-20', -4990, 'Berg', '']],
  ['49,90 S Berg', ['', 4990, 'S Berg', 'S Berg']],
  ['Berg 4711', ['It has no amount. Write it with decimals: 120.00.']],
  ['Berg 12 200,00', ['“12 200,00” is one amount or two numbers. Write the amount without a space.']],
  ['Berg;49,90;1.249,90', ['It has two amounts, 49,90 and 1.249,90. Leave one of them.']],
  ['Berg;1.200', ['“1.200” can be read in two ways: choose the decimal separator.']],
  ['03/04/2026;Berg;49,90', ['03/04/2026 can be read in two ways: say the order of day and month.']],
  ['Berg;0,00', ['Its amount is zero.']],
];

test('each row is read by its own columns and marks, and what can be read in two ways is not guessed', () => {
  for (const [written, expected] of ROWS)
    assert.deepEqual(told(written), expected.length === 1 ? expected : [expected], written);
});

test('in a currency of three decimals thousandths are told apart from thousands', () => {
  const currency = 'KWD';
  assert.deepEqual(told('Anna B;1.234', { currency }), [
    '“1.234” can be read in two ways: choose the decimal separator.',
  ]);
  assert.deepEqual(told('Anna B;1.234\nCarl D;0.750', { currency }), [
    ['', 123, 'Anna B', ''],
    ['', 75, 'Carl D', ''],
  ]);
});

test('one row tells what another leaves open, else the bookkeeper says it', () => {
  assert.deepEqual(told('Anna B;1.200\n\nCarl D;49,90'), [
    ['', 120000, 'Anna B', ''],
    ['', 4990, 'Carl D', ''],
  ]);
  assert.deepEqual(told('Anna B;1.200', { decimal: 'point' }), [['', 120, 'Anna B', '']]);
  assert.deepEqual(
    told('03/04/2026;Anna B;1.00\n13/04/2026;Carl D;2,00').map((row) => row![0]),
    ['2026-04-03', '2026-04-13'],
  );
  assert.deepEqual(told('03/04/2026;Anna B;1.00', { dates: 'mdy' }), [['2026-03-04', 100, 'Anna B', '']]);
  assert.deepEqual(
    read('\n\nx\n').map(({ at }) => at),
    [3],
  );
});

test('the payer’s account is told from a creditor reference, which looks like one', () => {
  const [row] = read('NL86 INGB 0002 4455 88;RF18539007547034;49,90');
  assert.deepEqual(
    [row!.line!.counterparty, row!.line!.text],
    [{ account: 'NL86INGB0002445588' }, 'RF18539007547034'],
  );
});

test('rows alike are two lines, which the same list has again', () => {
  const fingerprints = (text: string) => read(text).map(({ line }) => line!.fingerprint);
  const [one, other, ...more] = fingerprints('Berg;49,90\nBerg;49,90');
  assert.notEqual(one, other);
  assert.deepEqual([more, fingerprints('Berg;49,90\n\nBerg;49,90')], [[], [one, other]]);
});

test('no text is refused with an error, and every row that is not empty is told', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '\t',
      ';',
      '  ',
      '\n',
      '49,90',
      '1.200',
      '20.11.2026',
      'EUR',
      '€',
      '-',
      '(',
      ')',
      'S',
      '1',
      'RF18539007547034',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join(' ');
      const rows = read(text);
      assert.equal(rows.length, text.split(/\r\n?|\n/).filter((row) => row.trim() !== '').length);
      for (const { line, fault } of rows) {
        assert.equal(line === undefined, fault !== undefined);
        if (line) assert.ok(Number.isSafeInteger(line.amountMinor) && line.amountMinor > 0);
      }
    }),
    { numRuns: 500 },
  );
});
