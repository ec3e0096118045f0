// The table of test files held to the files that are there.
import assert from 'node:assert/strict';
import { matchesGlob } from 'node:path';
import { test } from 'node:test';
import { globsOf, rowOf, TABLE, testFiles } from '../scripts/test-table.ts';

test('every test file stands in the table', () => {
  assert.deepEqual(
    testFiles().filter((file) => !rowOf(file)),
    [],
    'give them a row of scripts/test-table.ts',
  );
});

test('every name in the table stands for a file that no row before it has', () => {
  for (const row of TABLE)
    for (const glob of globsOf(row))
      assert.ok(
        testFiles().some((file) => rowOf(file) === row && matchesGlob(file, glob)),
        glob,
      );
});
