// Statements missing between two others are found by the bank's numbers, whatever the order of the files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStatements } from '#bank-statements';
import { gapFaults } from '../../src/statements/import-file.ts';

/** An MT940 statement of one line, as a bank writes it. `day` is YYMMDD. */
function statement(number: string, day: string, account = 'DE02120300000000202051') {
  const text = `:20:STARTUMS\r\n:25:${account}\r\n:28C:${number}\r\n:60F:C${day}EUR1000,00\r\n:61:${day}${day.slice(2)}C49,90NTRFNONREF\r\n:86:Order 1\r\n:62F:C${day}EUR1049,90\r\n-\r\n`;
  const { statements, faults } = readStatements(Buffer.from(text), `${day}.sta`);
  assert.deepEqual([statements.length, statements[0]?.faults, faults], [1, [], []]);
  return statements[0]!;
}

test('one missing statement, and several, are named with the file and the line behind them', () => {
  const faults = gapFaults([
    statement('00039/001', '261124'),
    statement('00034/001', '261120'),
    statement('00036/001', '261122'),
  ]);
  assert.deepEqual(faults, [
    {
      file: '261122.sta',
      line: 5,
      text: 'Statement 35 of this account is not among the files: 34 is followed by 36.',
    },
    {
      file: '261124.sta',
      line: 5,
      text: 'Statement 37 to 38 of this account is not among the files: 36 is followed by 39.',
    },
  ]);
});

test('pages of one statement, a file given twice and the first number of a year are no gap', () => {
  const pages = [
    statement('250/1', '261231'),
    statement('250/2', '261231'),
    statement('250/1', '261231'),
    statement('1/1', '270102'),
  ];
  assert.deepEqual(gapFaults(pages), []);
});

test('the numbers of two accounts, and texts that are no number, are not compared', () => {
  const other = statement('40', '261121', 'DE02500105170137075030');
  const named = { ...statement('90', '261123'), number: '20261123-A' };
  assert.deepEqual(gapFaults([statement('34', '261120'), other, named]), []);
});
