// An import of which nothing was decided is undone with entries: its lines count no more, and its file can be imported again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readStatements } from '#bank-statements';
import { changeRow } from '../../src/journal/record-row.ts';
import { checkFile, importFile } from '../../src/statements/import-file.ts';
import { LINES } from '../../src/statements/kept.ts';
import { listLines, listStatements } from '../../src/statements/line-queries.ts';
import { periodOf } from '../../src/statements/period.ts';
import { undoImport } from '../../src/statements/undo.ts';
import { ACCOUNT, camt, TRANSFERS } from '../support/camt.ts';
import { MANY_SIGN_INS, signIn } from '../support/console.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { strictly } from '../support/markup.ts';

const ACT = { actor: 'operator', request_id: null };
const METHODS = [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }];

let harness: Harness;
before(async () => {
  harness = await startHarness('sqlite', { configuration: MANY_SIGN_INS + TRANSFERS });
});
after(async () => {
  await harness.verify();
  await harness.close();
});

async function bring(file: Uint8Array, name: string) {
  const checked = checkFile(readStatements(file, name), METHODS);
  const options = { despiteFaults: true, dryRun: false };
  const [imported] = (await importFile(harness.service.journal, checked, ACT, options))!;
  harness.service.database.refresh();
  return imported!;
}
async function undo(id: string) {
  const lines = await harness.service.journal.commit((transaction) => undoImport(transaction, id, ACT));
  harness.service.database.refresh();
  return lines;
}
const states = async () =>
  (await listLines(harness.service.database, {}, undefined, 100)).map(({ state }) => state).sort();

const FILE = camt(
  [
    { amount: '49.90', bank: 'A1', text: 'Order 17' },
    { amount: '7.00', bank: 'A2', text: 'Order 18' },
  ],
  { number: '34', balances: ['100.00', '156.90'] },
);

test('what an import brought counts no more, and the same file brings it again', async () => {
  const first = await bring(FILE, 'a.xml');
  assert.equal(first.added, 2);
  assert.equal(await undo(first.id!), 2);
  assert.deepEqual(await states(), ['undone', 'undone']);
  const period = await periodOf(
    harness.service.database,
    { account: ACCOUNT, currency: 'EUR' },
    '2026-11-01',
    '2026-11-30',
  );
  assert.deepEqual([period.bank, period.days], [undefined, []]);
  await assert.rejects(undo(first.id!), { code: 'not_found' });
  await assert.rejects(undo('stm_never'), { code: 'not_found' });
  const again = await bring(FILE, 'a.xml');
  assert.deepEqual([again.added, again.known], [2, 0]);
});

test('an import of which something was decided stays, and so does every line of it', async () => {
  const [statement] = await listStatements(harness.service.database, ACCOUNT, undefined, 1);
  const [line] = await listLines(harness.service.database, { state: 'open' }, undefined, 1);
  const change = (state: 'ignored' | 'open', action: string) =>
    harness.service.journal.commit(async (transaction) => {
      const [now] = await listLines(transaction, { statement_id: line!.statement_id }, undefined, 1);
      await changeRow(transaction, ACT, action, LINES, now!, { state });
    });
  await change('ignored', 'line.ignored');
  await assert.rejects(undo(statement!.id), { code: 'invalid_status', message: /1 of its 2 lines/ });
  harness.service.database.refresh();
  assert.deepEqual(await states(), ['ignored', 'open', 'undone', 'undone']);
  await change('open', 'line.reopened');
  assert.equal(await undo(statement!.id), 2);
});

test('an entry that the transactions of the import replaced is open again', async () => {
  const batch = { amount: '30.00', bank: 'B1', text: 'Batch' };
  const whole = await bring(camt([batch], { number: '40' }), 'whole.xml');
  const parts = await bring(
    camt([{ ...batch, parts: [{ amount: '10.00' }, { amount: '20.00' }] }], { number: '41' }),
    'parts.xml',
  );
  const of = async (id: string) =>
    (await listLines(harness.service.database, { statement_id: id }, undefined, 10)).map(
      ({ state }) => state,
    );
  assert.deepEqual([await of(whole.id!), await of(parts.id!)], [['replaced'], ['open', 'open']]);
  await assert.rejects(undo(whole.id!), { code: 'invalid_status' });
  await undo(parts.id!);
  assert.deepEqual([await of(whole.id!), await of(parts.id!)], [['open'], ['undone', 'undone']]);
});

test('the console shows the newest imports with a button, and says what was undone', async () => {
  const client = await signIn(harness);
  const { id } = await bring(camt([{ amount: '5.00', bank: 'C1' }], { number: '50' }), 'c.xml');
  const page = await client.get('/statements/import');
  assert.deepEqual(strictly(page.text).faults, []);
  const button = 'Undo the import of c.xml';
  const done = await client.post('/statements/undo', { statement: id! });
  assert.match(done.text, /The import is undone: 1 line no longer counts\./);
  assert.deepEqual(strictly(done.text).faults, []);
  assert.ok(page.text.includes(button) && !done.text.includes(button));
  await bring(camt([{ amount: '6.00', bank: 'D1' }], { number: '51' }), 'd.xml');
  const [line] = await listLines(harness.service.database, { state: 'open' }, undefined, 1);
  await harness.service.journal.commit((transaction) =>
    changeRow(transaction, ACT, 'line.ignored', LINES, line!, { state: 'ignored' }),
  );
  harness.service.database.refresh();
  assert.ok(!(await client.get('/statements/import')).text.includes('Undo the import of d.xml'));
});
