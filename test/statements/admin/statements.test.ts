// Bank statements under /admin: imported by a program, listed page by page, as openapi.json says, and refused with every fault.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DAY_MS } from '../../../src/lib/time.ts';
import { addPerson, type Person } from '../../support/admin.ts';
import { ACCOUNT, camt, TRANSFERS, today } from '../../support/camt.ts';
import { sharedHarness } from '../../support/harness.ts';
import { DocumentedService } from '../../support/openapi.ts';
import { eventually } from '../../support/waiting.ts';

describe('statements under /admin', () => {
  const service = sharedHarness('sqlite', {
    isVerified: true,
    configuration: `${TRANSFERS}calendar: none\nstatements: { prefixes: [INV-] }\n`,
  });
  let ana: Person;
  let otto: Person;
  before(async () => {
    ana = await addPerson(service, 'reviewer', 'Ana');
    otto = await addPerson(service, 'auditor', 'Otto');
  });

  const send = (body: Uint8Array, query = '', key = ana.token) =>
    service.request(`/admin/statements${query}`, {
      method: 'POST',
      key,
      body,
      headers: { 'content-type': 'application/octet-stream' },
    });
  const get = (path: string) => service.request(path, { key: otto.token });
  const SAID = { text: 'Order 17, thank you', name: 'Zoë & Sons', iban: 'NL86INGB0002445588' };
  const FILE = camt(
    [
      { amount: '49.90', bank: 'A1', ...SAID, creditor: 'RF18539007547034' },
      { amount: '5.00', bank: 'A2', direction: 'DBIT' },
      { amount: '7.00', bank: 'A3', day: '2026-11-19' },
    ],
    { number: '34', balances: ['100.00', '151.90'] },
  );

  test('a file is imported, a second time adds nothing, and both are listed', async () => {
    const first = await send(FILE, '?file=november.xml');
    assert.equal(first.status, 201, first.text);
    const [{ id, ...counts }] = first.json.data.statements;
    assert.deepEqual(counts, { account: ACCOUNT, added: 3, booked: 0, known: 0 });
    const again = await send(FILE, '?file=november.xml');
    assert.deepEqual(again.json.data.statements, [
      { id: null, account: ACCOUNT, added: 0, booked: 0, known: 3 },
    ]);
    const list = await get('/admin/statements');
    const [statement] = list.json.data;
    assert.deepEqual(
      [statement.id, statement.file, statement.number, statement.opening, statement.closing],
      [id, 'november.xml', '34', '100.00', '151.90'],
    );
    assert.deepEqual((await get(`/admin/statements?account=${ACCOUNT}x`)).json.data, []);
  });

  test('lines are listed by day, narrowed, and page by page', async () => {
    const all = (await get('/admin/statement_lines')).json.data;
    assert.deepEqual(
      all.map(({ day, amount, direction }: Record<string, unknown>) => [day, amount, direction]),
      [
        ['2026-11-20', 5, 'debit'],
        ['2026-11-20', 49.9, 'credit'],
        ['2026-11-19', 7, 'credit'],
      ],
    );
    const { text, counterparty, references } = all[1];
    assert.deepEqual(
      [text, counterparty, references],
      [
        SAID.text,
        { name: SAID.name, account: SAID.iban },
        { creditor: 'RF18539007547034', bank: 'A1', booking: 'A1' },
      ],
    );
    const pages = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { json: { data: { id: string }[]; next_cursor: string | null } } = await get(
        `/admin/statement_lines?limit=1${cursor && `&cursor=${cursor}`}`,
      );
      pages.push(...page.json.data);
      cursor = page.json.next_cursor ?? null;
    }
    assert.deepEqual(pages, all);
    const count = async (query: string) => (await get(`/admin/statement_lines?${query}`)).json.data.length;
    assert.deepEqual(
      [
        await count('direction=debit'),
        await count('from=2026-11-20'),
        await count('to=2026-11-19'),
        await count('state=matched'),
        await count(`statement_id=${all[0].statement_id}`),
      ],
      [1, 2, 1, 0, 3],
    );
  });

  test('what is listed is as openapi.json says', async () => {
    const documented = await DocumentedService.of(service);
    for (const query of ['', '?limit=1', `?account=${ACCOUNT}`])
      await documented.hold('GET', '/admin/statements', { key: otto.token, query });
    for (const query of ['', '?limit=1', '?state=open&direction=credit'])
      await documented.hold('GET', '/admin/statement_lines', { key: otto.token, query });
  });

  test('a file with a fault is refused with its lines, and imported on demand', async () => {
    const wrong = camt([
      { amount: 'many', bank: 'B1' },
      { amount: '3.00', bank: 'B2' },
    ]);
    const refused = await send(wrong);
    assert.equal(refused.status, 422);
    assert.deepEqual([refused.json.error.code], ['validation_failed']);
    assert.match(
      JSON.stringify(refused.json.error.details),
      /"line \d+":"This entry is left out: the amount/,
    );
    const forced = await send(wrong, '?despite_faults=true');
    assert.deepEqual([forced.status, forced.json.data.statements[0].added], [201, 1]);
    assert.equal(forced.json.data.faults.length, 1);
  });

  test('balances that do not add up are a warning of the import and of its statement', async () => {
    const chain = camt([{ amount: '6.00', bank: 'C1' }], { balances: ['0.00', '7.00'] });
    const { status, json } = await send(chain);
    assert.equal(status, 201);
    assert.deepEqual(
      json.data.notes.map(({ warning }: { warning?: boolean }) => warning),
      [true],
    );
    assert.match((await get('/admin/statements')).json.data[0].faults[0].text, /^The balances do not add up/);
  });

  test('a file that brings nothing new though its balance moved says so in its notes', async () => {
    const take = async (number: string, day: string, balances: [string, string]) => {
      const { json } = await send(camt([{ amount: '51.00', bank: 'SAME3', day }], { number, day, balances }));
      return [json.data.statements[0].added, ...json.data.notes.map((note: { text: string }) => note.text)];
    };
    assert.deepEqual(await take('31', '2026-11-30', ['7.00', '58.00']), [1]);
    assert.deepEqual(await take('32', '2026-12-01', ['58.00', '109.00']), [1]);
    const [added, note] = await take('34', '2026-12-03', ['160.00', '211.00']);
    assert.equal(added, 0);
    assert.match(note, /closing balance is 211\.00 and the known lines make 109\.00 EUR/);
  });

  test('CSV: what a file does not tell is asked, and an answer is remembered for the account', async () => {
    const csv = (amount: string) => Buffer.from(`Date,Text,Amount\n03/04/2026,CSV,${amount}\n`);
    const query = (more: string) => `?account=${ACCOUNT}${more}`;
    const asked = await send(csv('1.00'), query(''));
    assert.equal(asked.status, 422);
    assert.match(JSON.stringify(asked.json.error.details), /"line 1":"Say the order of day, month and year/);
    const answers = (dates: string) =>
      `&csv=${encodeURIComponent(`dates=${dates}|sign=signed|currency=EUR`)}&confirm=true`;
    const days = async () =>
      (await get(`/admin/statement_lines?account=${ACCOUNT}`)).json.data
        .filter(({ text }: { text: string }) => text === 'CSV')
        .map(({ day, amount }: { day: string; amount: number }) => `${day} ${amount}`)
        .sort();
    const unseen = query(answers('dmy').replace('&confirm=true', ''));
    assert.match((await send(csv('1.00'), unseen)).text, /look how it/);
    const despite = await send(csv('1.00'), `${unseen}&despite_faults=true`);
    assert.deepEqual(despite.json.data.statements, [], 'nothing is imported unseen');
    assert.equal((await send(csv('1.00'), query(answers('dmy')))).status, 201);
    assert.equal((await send(csv('3.00'), query(answers('mdy')))).status, 201);
    assert.equal((await send(csv('4.00'), query(''))).status, 201, 'the newest is remembered');
    assert.deepEqual(await days(), ['2026-03-04 3', '2026-03-04 4', '2026-04-03 1']);
    const other = `?account=DE02120300000000202051${answers('dmy')}`;
    assert.match((await send(csv('5.00'), other)).text, /is in no bank_transfer method/);
    assert.match((await send(csv('5.00'), '')).text, /does not name its account/);
    assert.equal((await send(csv('5.00'), query('&csv=dates%3Dnever'))).status, 422);
    for (const choice of ['__proto__=b', 'text=constructor', 'dates=toString']) {
      const { status } = await send(csv('6.00'), query(`&csv=${encodeURIComponent(choice)}`));
      assert.ok(status === 422 || status === 201, `${choice}: ${status}`);
    }
  });

  test('an import that is not waited for tells how far it is, and can be undone', async () => {
    const file = (text: string) =>
      camt([{ amount: '1.00', bank: text, text }], { number: text === 'undo-1' ? '70' : '71' });
    const documented = await DocumentedService.of(service);
    const begin = (body: Uint8Array) =>
      service.request('/admin/statements', {
        method: 'POST',
        key: ana.token,
        body,
        headers: { 'content-type': 'application/octet-stream', prefer: 'respond-async' },
      });
    const ended = async (address: string) => {
      let told = await get(address);
      await eventually(async () => {
        told = await get(address);
        return told.status !== 200 || told.json.data.state !== 'running';
      });
      return told.json.data;
    };
    const begun = await begin(file('undo-1'));
    assert.deepEqual([begun.status, begun.json.data.state], [202, begun.json.data.state]);
    const address = begun.headers.get('location')!;
    assert.equal(address, `/admin/statement_imports/${begun.json.data.id}`);
    const { state, lines, lines_done, added, statements } = await ended(address);
    assert.deepEqual([state, lines, lines_done, added, statements.length], ['done', 1, 1, 1, 1]);
    await documented.hold('GET', '/admin/statement_imports/{import_id}', {
      key: otto.token,
      id: begun.json.data.id,
    });
    const wrong = await begin(camt([{ amount: 'many', bank: 'undo-2' }], { number: '72' }));
    const refused = await ended(wrong.headers.get('location')!);
    assert.deepEqual([refused.state, refused.faults.length], ['refused', 1]);
    assert.equal((await get('/admin/statement_imports/imp_none')).status, 404);
    const undo = (key: string) =>
      service.request(`/admin/statements/${statements[0]}/undo`, { method: 'POST', key });
    assert.equal((await undo(otto.token)).status, 403);
    assert.deepEqual((await undo(ana.token)).json.data, {
      object: 'statement_undo',
      id: statements[0],
      lines: 1,
    });
    assert.equal((await undo(ana.token)).status, 404, 'undone already');
    assert.equal((await send(file('undo-1'))).json.data.statements[0].added, 1, 'it can be imported again');
  });

  test('queries that are wrong, and whoever may not', async () => {
    for (const query of ['?despite_faults=maybe', '?fil=x'])
      assert.equal((await send(FILE, query)).status, 422, query);
    for (const query of ['?state=lost', '?from=yesterday', '?cursor=x', '?limit=0', '?nonsense=1'])
      assert.equal((await get(`/admin/statement_lines${query}`)).status, 422, query);
    assert.equal((await send(FILE, '', otto.token)).status, 403);
    assert.equal((await send(Buffer.alloc(64 * 1024 * 1024 + 1))).status, 413);
  });

  // Behind all others: it sets the clock forward.
  test('lines are matched by the calendar and the prefixes of the configuration: where banks book on Sundays, Monday is late for Saturday', async () => {
    const now = service.clock.now();
    const date = Temporal.PlainDate.from(today(service));
    const friday = date.add({ days: 12 - date.dayOfWeek });
    service.clock.advance(Date.parse(`${friday}T12:00:00Z`) - now);
    const { id } = await service.create({
      amount: 31,
      currency: 'EUR',
      expires_in: 86_400,
      merchant_reference: '4711',
    });
    const monday = today(service, 3 * DAY_MS);
    service.clock.advance(4 * DAY_MS);
    const file = camt([{ amount: '31.00', day: monday, text: 'INV-4711' }]);
    await send(file);
    const [line] = (await get('/admin/statement_lines?limit=1')).json.data;
    const [{ payment_id, case: kind }] = line.proposals;
    assert.deepEqual([payment_id, kind], [id, 'late']);
  });
});
