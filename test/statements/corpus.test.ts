// Every file of the corpus gives the statements that stand beside it, and files that hold the same money give the same fingerprints.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { readStatements } from '../../src/statements/read.ts';

const folder = join(import.meta.dirname, 'corpus');
const files = globSync('*.{xml,sta}', { cwd: folder }).toSorted();
const read = (file: string) => readStatements(readFileSync(join(folder, file)), basename(file));
const linesOf = (file: string) => read(file).statements.flatMap(({ lines }) => lines);

test('each file gives what stands beside it', () => {
  assert.ok(files.length >= 17);
  for (const file of files)
    assert.deepEqual(read(file), JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8')), file);
});

test('the same money in 052, 053 and 054, and in another encoding, is one line', () => {
  const same = files.filter((file) => /^camt05\d-02-/.test(file));
  assert.equal(same.length, 5);
  assert.equal(new Set(same.flatMap(linesOf).map(({ fingerprint }) => fingerprint)).size, 1);
});

test('two lines alike in every field are two', () => {
  const [one, two] = linesOf('mt940-plain-two-alike.sta');
  assert.notEqual(one!.fingerprint, two!.fingerprint);
  assert.deepEqual(
    { ...one, position: 0, at: 0, fingerprint: '' },
    { ...two, position: 0, at: 0, fingerprint: '' },
  );
});

test('transactions of one entry keep their own amounts, and charges explain the difference', () => {
  const { statements } = read('camt053-08-batch-charges.xml');
  assert.deepEqual(statements[0]!.faults, []);
  assert.deepEqual(
    statements[0]!.lines.map(({ amountMinor, chargesMinor }) => [amountMinor, chargesMinor]),
    [
      [40000, 400],
      [60000, 600],
    ],
  );
});

test('pending lines and reversals are told as such', () => {
  const [pending, reversal] = linesOf('camt053-13-pending-reversal.xml');
  assert.deepEqual([pending!.status, reversal!.status], ['pending', 'booked']);
  assert.deepEqual([pending!.isReversal, reversal!.isReversal], [false, true]);
  assert.deepEqual(
    linesOf('mt940-german.sta').map(({ isReversal }) => isReversal),
    [false, true],
  );
});

test('an account without lines is a statement of its own', () => {
  const { statements } = read('camt053-06-two-accounts.xml');
  assert.deepEqual(
    statements.map(({ account, lines }) => [account.iban ?? account.other, lines.length]),
    [
      ['DE75512108001245126199', 1],
      ['0012345', 0],
    ],
  );
});
