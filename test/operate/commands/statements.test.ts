// counterfoil statements check: what it prints for a person and a program, and its exit code.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, run } from '../../support/command.ts';

const corpus = (file: string) => join(ROOT, 'packages/bank-statements/test/corpus', file);

test('statements that are right are told with their sums, and exit 0', async () => {
  const { code, stdout } = await run([
    'statements',
    'check',
    corpus('mt940-german.sta'),
    corpus('mt940-no-lines.sta'),
  ]);
  assert.equal(code, 0);
  assert.match(stdout, /credits +49\.90\n +debits +10\.00\n +opening +1000\.00 EUR\n +closing +1039\.90 EUR/);
  assert.match(stdout, /lines +none/);
  assert.match(stdout, /^2 statements, 2 lines, 0 faults\.$/m);
});

test('a file that cannot be read is a fault, the others are read, and the exit code is 1', async () => {
  const { code, stdout } = await run([
    'statements',
    'check',
    '--json',
    corpus('mt940-german.sta'),
    join(ROOT, 'README.md'),
  ]);
  assert.equal(code, 1);
  const told = JSON.parse(stdout);
  assert.equal(told.statements.length, 1);
  assert.deepEqual(
    told.faults.map(({ file, line }: { file: string; line: number }) => [file, line]),
    [['README.md', 0]],
  );
});

test('a file that is not there is told in one line', async () => {
  const { code, stderr } = await run(['statements', 'check', '/nonexistent.xml']);
  assert.equal(code, 1);
  assert.equal(stderr, 'counterfoil: /nonexistent.xml: it does not exist (ENOENT)\n');
});
