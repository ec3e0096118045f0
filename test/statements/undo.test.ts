// An import of which nothing was decided is undone with entries: its lines count no more, and its file can be imported again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeRow } from '../../src/journal/record-row.ts';
import { LINES } from '../../src/statements/kept.ts';
import { listStatements } from '../../src/statements/line-queries.ts';
import { periodOf } from '../../src/statements/period.ts';
import { undoImport } from '../../src/statements/undo.ts';
import { Bank, checked } from '../support/bank.ts';
import { ACCOUNT, camt, TRANSFERS } from '../support/camt.ts';
import { signIn } from '../support/console.ts';
import { OPERATOR, sharedHarness } from '../support/harness.ts';
import { strictly } from '../support/markup.ts';

const harness = sharedHarness('sqlite', { isVerified: true, configuration: TRANSFERS });
const bank = new Bank(harness);
const bring = async (file: Uint8Array, name?: string) => (await bank.take(checked(file, name)))![0]!;
const undo = (id: string) => bank.commit((transaction) => undoImport(transaction, id, OPERATOR));
const states = async (statement_id?: string) =>
  (await bank.lines({ statement_id })).map(({ state }) => state).sort();
/** Changes the newest open line, as a reviewer does who ignores it. */
const change = (state: 'ignored' | 'open', action: string) =>
  bank.commit(async (transaction) => {
    const [line] = await bank.lines({ state: state === 'open' ? 'ignored' : 'open' });
    await changeRow(transaction, OPERATOR, action, LINES, line!, { state });
  });

const FILE = camt(
  [
    { amount: '49.90', bank: 'A1', text: 'Order 17' },
    { amount: '7.00', bank: 'A2', text: 'Order 18' },
  ],
  { number: '34', balances: ['100.00', '156.90'] },
);

test('what an import brought counts no more, and the same file brings it again', async () => {
  const first = await bring(FILE);
  assert.equal(first.added, 2);
  assert.equal(await undo(first.id!), 2);
  assert.deepEqual(await states(), ['undone', 'undone']);
  const money = { account: ACCOUNT, currency: 'EUR' };
  const period = await periodOf(bank.database, money, '2026-11-01', '2026-11-30');
  assert.deepEqual([period.bank, period.days], [undefined, []]);
  await assert.rejects(undo(first.id!), { code: 'not_found' });
  await assert.rejects(undo('stm_never'), { code: 'not_found' });
  const again = await bring(FILE);
  assert.deepEqual([again.added, again.known], [2, 0]);
});

test('an import of which something was decided stays, and so does every line of it', async () => {
  const [statement] = await listStatements(bank.database, ACCOUNT, undefined, 1);
  await change('ignored', 'line.ignored');
  await assert.rejects(undo(statement!.id), { code: 'invalid_status', message: /1 of its 2 lines/ });
  assert.deepEqual(await states(), ['ignored', 'open', 'undone', 'undone']);
  await change('open', 'line.reopened');
  assert.equal(await undo(statement!.id), 2);
});

test('an entry that the transactions of the import replaced is open again', async () => {
  const batch = { amount: '30.00', bank: 'B1', text: 'Batch' };
  const whole = await bring(camt([batch], { number: '40' }));
  const parts = await bring(
    camt([{ ...batch, parts: [{ amount: '10.00' }, { amount: '20.00' }] }], { number: '41' }),
  );
  assert.deepEqual([await states(whole.id!), await states(parts.id!)], [['replaced'], ['open', 'open']]);
  await assert.rejects(undo(whole.id!), { code: 'invalid_status' });
  await undo(parts.id!);
  assert.deepEqual([await states(whole.id!), await states(parts.id!)], [['open'], ['undone', 'undone']]);
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
  await change('ignored', 'line.ignored');
  assert.ok(!(await client.get('/statements/import')).text.includes('import of d.xml'));
});
