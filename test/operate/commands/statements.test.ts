// counterfoil statements check: what it prints for a person and a program, and its exit code.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

test('CSV is told with how it was read, and a question with how it is answered', async () => {
  const known = await run(['statements', 'check', corpus('csv-volksbank.csv')]);
  assert.equal(known.code, 0);
  assert.match(known.stdout, /^csv-volksbank\.csv: read as Volksbank, Sparda, GLS, PSD, names in line 1$/m);
  assert.match(known.stdout, /^ {2}text +Verwendungszweck +Text$/m);
  assert.match(known.stdout, /^ {2}not read +Bezeichnung Auftragskonto, /m);
  const file = join(mkdtempSync(join(tmpdir(), 'csv-')), 'april.csv');
  writeFileSync(file, 'Date,Text,Amount (EUR)\n03/04/2026,a,-1.00\n');
  const asked = await run(['statements', 'check', file]);
  assert.equal(asked.code, 1);
  assert.match(asked.stdout, /To answer: --csv dates=dmy or --csv dates=mdy/);
  writeFileSync(file, 'Posted on;Who;Money\n26.11.2026;Ana;-1,00\n');
  const guessed = await run(['statements', 'check', file]);
  assert.match(
    guessed.stdout,
    /To answer: --csv day="Posted on" amount=Money text=Who, or other names of columns/,
  );
  const answered = await run([
    'statements',
    'check',
    file,
    '--csv',
    'day=Posted on',
    'amount=Money',
    'currency=EUR',
  ]);
  assert.match(answered.stdout, /^ +account +not named: give --account to import it, EUR$/m);
  writeFileSync(file, 'Date,Text,Amount (EUR)\n03/04/2026,a,-1.00\n');
  const told = await run(['statements', 'check', file, '--json', '--csv', 'dates=mdy', 'text=Date']);
  const { statements, csv } = JSON.parse(told.stdout);
  assert.deepEqual([statements[0].lines[0].bookingDay, csv[0].layout.columns.text], ['2026-03-04', ['Date']]);
});
