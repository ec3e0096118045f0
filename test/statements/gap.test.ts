// Statements missing between two others are found by the bank's numbers, whatever the order of the files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checked, methodsOf } from '../support/bank.ts';
import { ACCOUNT, camt, inOneFile } from '../support/camt.ts';

const OTHER = 'DE02500105170137075030';
const METHODS = methodsOf(ACCOUNT, OTHER);

/** An MT940 statement of one line, as a bank writes it. `day` is YYMMDD. */
const statement = (number: string, day: string, account = ACCOUNT) =>
  `:20:STARTUMS\r\n:25:${account}\r\n:28C:${number}\r\n:60F:C${day}EUR1000,00\r\n:61:${day}${day.slice(2)}C49,90NTRFNONREF\r\n:86:Order 1\r\n:62F:C${day}EUR1049,90\r\n-\r\n`;

const FILES: [name: string, file: string, faults: [line: number, missing: string, of: string][]][] = [
  [
    'one and several are named with the line behind them',
    statement('00039/001', '261124') + statement('00034/001', '261120') + statement('00036/001', '261122'),
    [
      [21, '35', '34 is followed by 36'],
      [5, '37 to 38', '36 is followed by 39'],
    ],
  ],
  [
    'pages of one statement, one given twice and the first number of a year',
    statement('250/1', '261231') +
      statement('250/2', '261231') +
      statement('250/1', '261231') +
      statement('1/1', '270102'),
    [],
  ],
  ['two accounts', statement('34', '261120') + statement('40', '261121', OTHER), []],
  [
    'a text that is no number',
    inOneFile(
      camt([{ amount: '1.00' }], { number: '34' }),
      camt([{ amount: '1.00', day: '2026-11-23' }], { number: '20261123-A' }),
    ),
    [],
  ],
];

for (const [name, file, expected] of FILES)
  test(`statements that are missing: ${name}`, () => {
    const { statements, faults } = checked(Buffer.from(file), 'a.sta', METHODS);
    assert.ok(statements.length > 1);
    assert.deepEqual(
      faults.map(({ line, text }) => [
        line,
        ...(/^Statement (.*) of this .*: (.*)\.$/.exec(text) ?? []).slice(1),
      ]),
      expected,
    );
  });
