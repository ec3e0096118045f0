// What docs/security says is there: the table of the standard is whole, and the inventory of cryptography misses no file.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/command.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** How many requirements of levels 1 and 2 each section of OWASP ASVS 5.0.0 has; they are its first, without a gap. */
const SECTIONS: Record<string, number[]> = {
  V1: [2, 9, 11, 3, 2],
  V2: [3, 3, 4, 1],
  V3: [0, 2, 4, 6, 5, 0, 2],
  V4: [3, 1, 2, 4],
  V5: [1, 3, 2, 3],
  V6: [3, 12, 4, 4, 5, 3, 0, 4],
  V7: [3, 4, 2, 5, 2, 2],
  V8: [2, 3, 1, 1],
  V9: [3, 4],
  V10: [2, 2, 4, 11, 5, 2, 3],
  V11: [2, 3, 3, 4, 1, 1],
  V12: [3, 2, 4],
  V13: [1, 5, 2, 5],
  V14: [2, 4, 3],
  V15: [3, 3, 7],
  V16: [1, 5, 4, 3, 3],
  V17: [1, 4, 2],
};
const NUMBERS = Object.entries(SECTIONS).flatMap(([chapter, sections]) =>
  sections.flatMap((count, s) => Array.from({ length: count }, (_, r) => `${chapter}.${s + 1}.${r + 1}`)),
);

/** The rows of the table: number, what it asks, verdict, where, test. */
const rows = [...read('docs/security/asvs.md').matchAll(/^\| (V\d+\.\d+\.\d+) \|(.*)\|$/gm)].map(
  ([, number, rest]) => {
    const [asks, verdict, where, tests] = rest!.split(' | ').map((cell) => cell.trim());
    return { number: number!, asks: asks!, verdict: verdict!, where: where!, tests: tests! };
  },
);
/** The files that a cell names. */
const filesIn = (cell: string) =>
  [...cell.matchAll(/`([\w.-]+\/[\w./-]*\.\w+|[\w-]*\.(?:md|ya?ml|json)|Dockerfile|\.dockerignore)`/g)].map(
    ([, file]) => file!,
  );

test('the table has each of the 253 requirements of levels 1 and 2 once, in their order', () => {
  assert.equal(NUMBERS.length, 253);
  assert.deepEqual(
    rows.map(({ number }) => number),
    NUMBERS,
  );
});

test('each requirement has words, a verdict, and a place or a reason; every file that it names is there', () => {
  for (const { number, asks, verdict, where, tests } of rows) {
    assert.ok(asks.length > 3 && where.length > 3, number);
    assert.ok(['kept', 'not applicable', 'not kept'].includes(verdict), `${number}: ${verdict}`);
    for (const file of filesIn(`${where} ${tests}`))
      assert.ok(existsSync(join(ROOT, file)), `${number}: ${file}`);
    if (tests !== '–')
      assert.ok(
        filesIn(tests).every((file) => /^test\/.*\.test\.ts$/.test(file)),
        number,
      );
    if (verdict === 'not applicable') assert.equal(tests, '–', number);
  }
  const kept = rows.filter(({ verdict }) => verdict === 'kept');
  const untested = kept.filter(({ tests }) => filesIn(tests).length === 0).map(({ number }) => number);
  // Nothing of these could fail in a test: the absence of a thing, the work of a compiler, the work of people.
  assert.deepEqual(untested, ['V1.2.9', 'V1.3.2', 'V6.2.10', 'V6.4.2', 'V15.2.1', 'V15.3.5']);
});

test('the figures above the table are those of the table', () => {
  const count = (verdict: string) => rows.filter((row) => row.verdict === verdict).length;
  const text = read('docs/security/asvs.md');
  const [, kept, not, inapplicable] =
    /(\d+) are kept, (\d+) are not, and (\d+) do not apply/.exec(text) ?? [];
  assert.deepEqual([kept, not, inapplicable].map(Number), ['kept', 'not kept', 'not applicable'].map(count));
});

test('the inventory of cryptography names each file that uses it', () => {
  const inventory = read('docs/security/cryptography.md');
  const using = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) =>
    /from 'node:crypto'/.test(read(file)),
  );
  assert.ok(using.length > 10);
  assert.deepEqual(
    using.filter((file) => !inventory.includes(`\`${file}\``)),
    [],
  );
  for (const file of filesIn(inventory))
    if (file.startsWith('src/')) assert.ok(existsSync(join(ROOT, file)), file);
});

test('each thing that docs/security.md says a thief cannot do has a test beside it', () => {
  const lines = read('docs/security.md')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  let cannot = -1;
  let count = 0;
  for (const cells of lines) {
    if (cells.includes('cannot')) cannot = cells.indexOf('cannot');
    else if (cells.length === 1)
      cannot = -1; // the table is over
    else if (cannot >= 0 && !/^-+$/.test(cells[cannot]!)) {
      const files = filesIn(cells[cannot + 1] ?? '');
      assert.ok(files.length > 0, cells[cannot]!);
      for (const file of files) {
        assert.match(file, /^test\/.*\.test\.ts$/);
        assert.ok(existsSync(join(ROOT, file)), file);
      }
      count++;
    }
  }
  assert.ok(count >= 19, `${count} lines`);
});
