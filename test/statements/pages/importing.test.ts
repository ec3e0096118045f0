// An import that takes longer than a page is waited for: the console leads to how far it is, and the page asks again without a script.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ToldImport } from '../../../src/statements/import-status.ts';
import { camt, TRANSFERS } from '../../support/camt.ts';
import { type Client, MANY_SIGN_INS, signIn } from '../../support/console.ts';
import { FROM_OUR_PAGE } from '../../support/customer.ts';
import { OPERATOR, sharedHarness } from '../../support/harness.ts';
import { strictly } from '../../support/markup.ts';
import { eventually } from '../../support/waiting.ts';

const harness = sharedHarness('sqlite', { isVerified: true, configuration: `${MANY_SIGN_INS}${TRANSFERS}` });
let ana: Client;
before(async () => {
  ana = await signIn(harness);
});

async function page(path: string) {
  const shown = await ana.get(path);
  assert.deepEqual(strictly(shown.text).faults, [], path);
  return shown;
}

test('the form of a file leads to how far its import is, and the page to its lines', async () => {
  const form = (await page('/statements/import')).forms.find(({ button }) => button === 'Import')!;
  const { despite: _, ...values } = form.values;
  const body = new FormData();
  for (const [name, value] of Object.entries(values)) body.append(name, value);
  const file = camt([{ amount: '7.00', bank: 'W1' }]);
  body.append('files', new Blob([file as never]), 'a.xml');
  body.append('files', new Blob([Buffer.from('<x>') as never]), 'b.xml');
  const cookie = [...ana.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(`${harness.service.baseUrl}/console/statements/import`, {
    method: 'POST',
    headers: { ...FROM_OUR_PAGE, cookie, prefer: 'respond-async' },
    body,
    redirect: 'manual',
  });
  assert.equal(answer.status, 303);
  const to = answer.headers.get('location')!.replace(/^.*\/console/, '');
  assert.match(to, /^\/statements\/import\/imp_/);
  await eventually(async () => /1 new lines/.test((await page(to)).body));
  const done = await page(to);
  assert.match(done.body, /b\.xml: .* not well-formed/);
  assert.equal(done.headers.get('refresh'), null);
});

test('how far an import is, and how it ended', async () => {
  const { journal, database } = harness.service;
  const begun = async () => {
    const told = new ToldImport(journal, OPERATOR);
    const id = await told.tell(Date.now());
    return { told, path: `/statements/import/${id}` };
  };
  const { told, path } = await begun();
  const first = await page(path);
  assert.equal(first.headers.get('refresh'), '3');
  assert.match(first.body, /goes on.*file is read/s);
  await journal.commit(async (transaction) => told.onTurn(transaction, 1500, 2500));
  const second = await page(path);
  assert.match(second.text, /<progress[^>]* max="2500" value="1500">/);
  assert.match(second.body, /1,500 of 2,500 lines are in/);
  await told.refused([{ file: 'a.xml', line: 7, text: 'The day cannot be read.' }]);
  const refused = await page(path);
  assert.equal(refused.headers.get('refresh'), null);
  assert.match(refused.body, /Nothing was imported.*Line 7: The day cannot be read/s);
  const other = await begun();
  await other.told.failed();
  assert.match((await page(other.path)).body, /The import failed/);
  database.refresh();
  assert.equal((await ana.get('/statements/import/imp_0')).status, 404);
});
