// An import of which nothing was decided is undone with entries: its lines count no more, and its file can be imported again.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Bank, checked } from '../support/bank.ts';
import { ACCOUNT, camt, TRANSFERS } from '../support/camt.ts';
import { Clerk } from '../support/clerk.ts';
import { type Client, signIn } from '../support/console.ts';
import { sharedHarness } from '../support/harness.ts';
import { strictly } from '../support/markup.ts';
import { haveReviewers } from '../support/reviewers.ts';

const harness = sharedHarness('sqlite', { isVerified: true, configuration: TRANSFERS });
const bank = new Bank(harness);
const bring = async (file: Uint8Array, name?: string) => (await bank.take(checked(file, name)))![0]!;
const ana = new Clerk(bank);
let client: Client;
before(async () => {
  await haveReviewers(harness.service);
  client = await signIn(harness);
});
const states = async (statement_id?: string) =>
  (await bank.lines({ statement_id })).map(({ state }) => state).sort();
const newest = async (statement_id: string) => (await bank.lines({ statement_id }))[0]!.id;

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
  assert.equal(await bank.undo(first.id!), 2);
  assert.deepEqual(await states(), ['undone', 'undone']);
  await assert.rejects(bank.undo(first.id!), { code: 'not_found' });
  await assert.rejects(bank.undo('stm_never'), { code: 'not_found' });
  const again = await bring(FILE);
  assert.deepEqual([again.added, again.known], [2, 0]);
  const asked = `account=${ACCOUNT}%20EUR&from=2026-11-01&to=2026-11-30`;
  const { text } = await client.get(`/statements/report.csv?${asked}`);
  const rows = text
    .trim()
    .split('\r\n')
    .map((row) => row.split(','));
  assert.deepEqual(
    rows.slice(1).map((row) => [row[0], row.at(-1)]),
    [
      ['opening', '100.00'],
      ...['149.90', '156.90'].map((balance) => ['line', balance]),
      ['closing', '156.90'],
      ['bank', '156.90'],
    ],
  );
});

test('an import of which something was decided stays, and so does every line of it', async () => {
  const [{ id }] = await bank.audited('statements?limit=1');
  const line = await newest(id);
  await ana.ignore(line, 'Rent');
  await assert.rejects(bank.undo(id), { code: 'invalid_status', message: /1 of its 2 lines/ });
  assert.deepEqual(await states(), ['ignored', 'open', 'undone', 'undone']);
  await ana.reopen(line);
  assert.equal(await bank.undo(id), 2);
});

test('an entry that the transactions of the import replaced is open again', async () => {
  const batch = { amount: '30.00', bank: 'B1', text: 'Batch' };
  const whole = await bring(camt([batch], { number: '40' }));
  const parts = await bring(
    camt([{ ...batch, parts: [{ amount: '10.00' }, { amount: '20.00' }] }], { number: '41' }),
  );
  assert.deepEqual([await states(whole.id!), await states(parts.id!)], [['replaced'], ['open', 'open']]);
  await assert.rejects(bank.undo(whole.id!), { code: 'invalid_status' });
  await bank.undo(parts.id!);
  assert.deepEqual([await states(whole.id!), await states(parts.id!)], [['open'], ['undone', 'undone']]);
});

test('the console shows the newest imports with a button, and says what was undone', async () => {
  const { id } = await bring(camt([{ amount: '5.00', bank: 'C1' }], { number: '50' }), 'c.xml');
  const page = await client.get('/statements/import');
  assert.deepEqual(strictly(page.text).faults, []);
  const button = 'Undo the import of c.xml';
  const done = await client.post('/statements/undo', { statement: id! });
  assert.match(done.text, /The import is undone: 1 line no longer counts\./);
  assert.deepEqual(strictly(done.text).faults, []);
  assert.ok(page.text.includes(button) && !done.text.includes(button));
  const decided = await bring(camt([{ amount: '6.00', bank: 'D1' }], { number: '51' }), 'd.xml');
  await ana.ignore(await newest(decided.id!), 'Rent');
  assert.ok(!(await client.get('/statements/import')).text.includes('import of d.xml'));
});
