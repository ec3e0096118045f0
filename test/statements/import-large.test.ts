// A large statement is imported in several commits: others get their turn, a second import adds nothing, and one that ended is made whole.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readStatements } from '#bank-statements';
import type { Journal } from '../../src/journal/journal.ts';
import { checkFile, importFile } from '../../src/statements/import-file.ts';
import { lineSums, listStatements } from '../../src/statements/line-queries.ts';
import { ACCOUNT, camt } from '../support/camt.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const ACT = { actor: 'operator', request_id: null };
const METHODS = [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }];
const OPTIONS = { despiteFaults: false, dryRun: false };
const LINES = 2500;
const file = checkFile(
  readStatements(
    camt(
      Array.from({ length: LINES }, (_, i) => ({
        amount: `${10 + (i % 90)}.00`,
        bank: `B${i}`,
        text: `Order ${i}`,
      })),
    ),
    'large.xml',
  ),
  METHODS,
);

let harness: Harness;
before(async () => {
  harness = await startHarness('sqlite');
});
after(async () => {
  await harness.verify();
  await harness.close();
});

async function stored() {
  harness.service.database.refresh();
  const [statements, sums] = [
    await listStatements(harness.service.database, undefined, undefined, 10),
    await lineSums(harness.service.database),
  ];
  return [statements.map(({ lines }) => lines), sums.reduce((sum, { count }) => sum + Number(count), 0)];
}

test('an import that ends in between is made whole by the same file', async () => {
  const { journal } = harness.service;
  let commits = 0;
  const ending = {
    commit: (work: Parameters<Journal['commit']>[0]) => {
      commits += 1;
      return commits === 3 ? Promise.reject(new Error('ended')) : journal.commit(work);
    },
  } as Journal;
  await assert.rejects(importFile(ending, file, ACT, OPTIONS), /ended/);
  assert.deepEqual(await stored(), [[], 2000], 'no statement stands without all of its lines');
  const [whole] = (await importFile(journal, file, ACT, OPTIONS))!;
  assert.deepEqual([whole!.added, whole!.known, whole!.knownAt.length], [500, 2000, 2000]);
  assert.deepEqual(await stored(), [[LINES], LINES]);
});

test('the same file again adds nothing', async () => {
  const [again] = (await importFile(harness.service.journal, file, ACT, OPTIONS))!;
  assert.deepEqual([again!.id, again!.added, again!.known], [null, 0, LINES]);
  assert.deepEqual(await stored(), [[LINES], LINES]);
});
