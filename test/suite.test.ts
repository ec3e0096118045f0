// The table of test files held to the files that are there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { test } from 'node:test';
import { GUARDS } from '../scripts/guards.ts';
import { globsOf, partsOf, rowOf, TABLE, testFiles } from '../scripts/test-table.ts';

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

test('`npm test` and the rest are everything, and no file twice in one way', () => {
  /** What a run asks of a file, sorted: each engine that it can tell apart, each extent of its tables that it can tell apart. */
  const asksOf = (file: string, extent: 'listed' | 'rest' | 'whole') => {
    const text = readFileSync(file, 'utf8');
    const engines = /\bENGINES\b/.test(text) ? ['sqlite', 'postgres'] : ['any'];
    const rows = text.includes("support/extent.ts'") ? ['few', 'all'] : ['all'];
    return partsOf([file], extent)
      .flatMap(({ env = {} }) =>
        engines
          .filter(
            (engine) => ['any', engine].includes(env.COUNTERFOIL_TEST_ENGINES ?? engine) || engine === 'any',
          )
          .map((engine) => `${engine}, ${env.COUNTERFOIL_TEST_WHOLE ? 'all' : rows[0]}`),
      )
      .sort();
  };
  for (const file of testFiles()) {
    const [listed, rest] = [asksOf(file, 'listed'), asksOf(file, 'rest')];
    const ran = [...listed, ...rest];
    assert.equal(new Set(ran).size, ran.length, `${file} twice`);
    for (const one of asksOf(file, 'whole')) assert.ok(ran.includes(one), `${file}: nobody runs ${one}`);
  }
});

test('what `npm run test:guards` breaks stands once in its file, and the tests that turn red are there', () => {
  for (const { file, text, red } of GUARDS) {
    const source = readFileSync(file.startsWith('./') ? file : join('src', file), 'utf8');
    assert.equal(source.split(text).length, 2, `${file}: ${text}`);
    for (const name of red) assert.ok(testFiles().includes(join('test', `${name}.test.ts`)), name);
  }
});
