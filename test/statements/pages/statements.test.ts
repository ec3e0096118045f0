// Statements in the console: imported by a form, approved together, and cleared one by one, with what each page refuses.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { before, test } from 'node:test';
import { Bank } from '../../support/bank.ts';
import { ACCOUNT, camt, type Entry, TRANSFERS, today } from '../../support/camt.ts';
import { type Client, formOf, MANY_SIGN_INS, signIn } from '../../support/console.ts';
import { FROM_OUR_PAGE, read } from '../../support/customer.ts';
import { sharedHarness } from '../../support/harness.ts';
import { strictly } from '../../support/markup.ts';
import { referenceOf } from '../../support/payments.ts';

const harness = sharedHarness('sqlite', {
  isVerified: true,
  configuration: `${MANY_SIGN_INS}${TRANSFERS}statements: {prefixes: [INV-]}\n`,
});
const bank = new Bank(harness);
let ana: Client;
before(async () => {
  ana = await signIn(harness);
});

async function look(client: Client, path: string) {
  const page = await client.get(path);
  assert.deepEqual(strictly(page.text).faults, [], path);
  return page;
}

/** Sends the form of files as a browser does. Returns the status and the page. */
async function upload(
  client: Client,
  files: Record<string, Uint8Array>,
  fields: Record<string, string> = {},
) {
  const page = await client.get('/statements/import');
  const form = page.forms.find(({ button }) => button === 'Import')!;
  const { despite: _, ...values } = form.values; // a browser sends it only if it is ticked
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...values, ...fields })) body.append(name, value);
  for (const [name, bytes] of Object.entries(files)) body.append('files', new Blob([bytes as never]), name);
  return sendForm(client, body);
}

async function sendForm(client: Client, body: FormData, cookies = client.cookies, path = 'import') {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`${harness.service.baseUrl}/console/statements/${path}`, {
    method: 'POST',
    headers: { ...FROM_OUR_PAGE, cookie },
    body,
    redirect: 'manual',
  });
  const page = await read(new URL(response.url), response);
  const text = page.text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  return { ...page, text, markup: page.text };
}

let count = 0;
async function paid(amount: number, more: Partial<Entry> = {}, fields: object = {}) {
  const { id } = await harness.create({ amount, currency: 'EUR', ...fields });
  const text = await referenceOf(harness, id);
  const sent = {
    amount: amount.toFixed(2),
    bank: `C${++count}`,
    text,
    name: 'Zoë Berg',
    day: today(harness),
  };
  return { id, entry: { ...sent, ...more } as Entry };
}
const lineIdOf = async (reference: string) => (await bank.linesOf(reference))[0]!.id;
const stateOf = async (reference: string) => (await bank.linesOf(reference))[0]!.state;
const statusOf = async (id: string) => (await harness.request(`/v1/payments/${id}`)).json.data.status;

test('files are imported, the certain ones approved with one press, and the rest is shown with what is odd', async () => {
  const [one, two, odd] = [await paid(71), await paid(72), await paid(73, { amount: '70.00' })];
  const file = camt([one.entry, two.entry, odd.entry, { amount: '5.00', bank: 'RENT', text: '<b>Rent</b>' }]);
  const first = await upload(ana, { 'november.xml': file, 'broken.xml': Buffer.from('<x>') });
  assert.equal(first.status, 200);
  assert.match(first.text, /november\.xml .*4 new lines\./);
  assert.match(first.text, /broken\.xml was not/);
  assert.deepEqual(strictly(first.markup).faults, []);
  assert.match((await upload(ana, { 'november.xml': file })).text, /imported before/);

  const list = await look(ana, '/statements');
  assert.match(list.body, /exact matches 2 of 4, €143\.00/);
  assert.match(list.body, /€3\.00 less arrived/);
  assert.match(list.body, /<b>Rent<\/b>/);
  const certain = await look(ana, '/statements/certain');
  assert.match(certain.body, /Approve these 2 payments €143\.00/);
  // A line that is not ticked waits.
  const { action, values } = formOf(certain, 'Approve these 2 payments');
  const boxes = Object.keys(values).filter((name) => name.startsWith('lin_'));
  assert.equal(boxes.length, 2);
  const { [boxes[0]!]: _, ...ticked } = values;
  assert.match((await ana.post(action, ticked)).body, /Approved: 1\./);
  const done = await ana.send(await look(ana, '/statements/certain'), {}, 'Approve this payment');
  assert.match(done.body, /Approved: 1\./);
  assert.deepEqual(
    [await statusOf(one.id), await statusOf(two.id), await statusOf(odd.id)],
    ['approved', 'approved', 'pending'],
  );
  assert.match((await look(ana, '/statements?state=matched')).body, /The payment/);
});

test('a payment shows each line that was matched with it once, beside what they come to', async () => {
  const odd = await paid(83, { amount: '80.00' });
  const rest: Entry = { ...odd.entry, amount: '3.00', bank: 'R83' };
  await bank.take(camt([odd.entry, rest], { number: '83' }));
  for (const bank of [odd.entry.bank!, rest.bank!]) {
    const line = await look(ana, `/statements/lines/${await lineIdOf(bank)}`);
    await ana.send(line, {}, 'Match, decide later');
  }
  const { body } = await look(ana, `/payments/${odd.id}`);
  const day = String.raw`Day\d+ \w+ \d{4} StatementThe bank’s line`;
  assert.match(
    body,
    new RegExp(`arrived Amount€80\\.00 ${day} .*?Recorded by.*? Amount€3\\.00 ${day} Matched by`),
  );
  assert.match(body, /€83\.00 stands on the bank statement of .*: exactly what was asked for/);
});

test('a line with something odd is accepted on its page; it is matched or approved, and a match is taken back', async () => {
  const odd = await paid(81, { amount: '80.00' });
  await bank.take(camt([odd.entry], { number: '2' }));
  const path = `/statements/lines/${await lineIdOf(odd.entry.bank!)}`;
  const line = await look(ana, path);
  assert.match(
    line.body,
    /Likely[\s\S]*€1\.00 less arrived than was asked for\.[\s\S]*The line carries the transfer reference/,
  );
  assert.match((await ana.send(line, {}, 'Match, decide later')).body, /Matched: €80\.00/);
  const payment = await look(ana, `/payments/${odd.id}`);
  assert.match(payment.body, /€80\.00 stands .*: €1\.00 less/);
  assert.equal(await statusOf(odd.id), 'requires_review');
  const queued = async (query: string) => (await look(ana, `/queue${query}`)).text.includes(odd.id);
  assert.match((await look(ana, '/queue')).body, /Money seen: ?€1\.00 less/);
  const seen = [await queued('?money=other'), await queued('?money=exact'), await queued('?money=none')];
  assert.deepEqual(seen, [true, false, false]);
  const exact = await paid(82);
  await bank.take(camt([exact.entry], { number: '4' }));
  const sure = await look(ana, `/statements/lines/${await lineIdOf(exact.entry.bank!)}`);
  const approved = await ana.send(sure, {}, 'Approve the payment');
  assert.match(approved.body, /Approved: €82\.00/);
  assert.equal(await statusOf(exact.id), 'approved');
  await ana.send(await look(ana, path), {}, 'Take it back');
  assert.deepEqual([await queued(''), await statusOf(odd.id)], [false, 'pending']);
  assert.match((await look(ana, path)).body, /Proposed payments/);
  const decided = await look(ana, `/statements/lines/${await lineIdOf(exact.entry.bank!)}`);
  assert.match(decided.body, /payment is approved\./);
  assert.doesNotMatch(decided.body, /Take it back/);
});

test('what is odd is accepted as paid with a reason, which stands with the approval', async () => {
  const fee = await paid(91, { amount: '81.00' });
  await bank.take(camt([fee.entry], { number: '9' }));
  const path = `/statements/lines/${await lineIdOf(fee.entry.bank!)}`;
  const empty = await ana.send(await look(ana, path), { note: ' ' }, 'Approve the payment');
  assert.deepEqual([empty.status, empty.faults], [422, ['note']]);
  assert.equal(await statusOf(fee.id), 'pending');
  const done = await ana.send(await ana.get(path), { note: 'The bank took 10.00' }, 'Approve the payment');
  assert.match(done.body, /Approved: €81\.00/);
  assert.equal(await statusOf(fee.id), 'approved');
  assert.match((await ana.get(`/payments/${fee.id}`)).body, /The bank took 10\.00/);
});

test('a search finds lines by reference, a part of one, payer, account, amount and text, whatever became of them', async () => {
  const entry = {
    amount: '1200.07',
    bank: 'FINDME77',
    text: 'RF18 5390 0754 7034 for the rent',
    name: 'Ørsted, Zoë',
    iban: 'NL86INGB0002445588',
    day: today(harness),
  };
  await bank.take(camt([entry], { number: '71' }));
  const path = `/statements/lines/${await lineIdOf('FINDME77')}`;
  const finds = async (text: string) =>
    (await look(ana, `/statements?q=${encodeURIComponent(text)}`)).text.includes(path);
  for (const text of [
    'EREF+RF18539007547034',
    'rf18 5390 07',
    'zoe',
    'NL86 INGB 0002 4455 88',
    '1.200,07 EUR',
    'FINDME77',
    'FINDME7700000',
    'rent for',
  ])
    assert.equal(await finds(text), text !== 'FINDME7700000', text);
  for (const text of ['1.200,08', 'RF18539007547035', 'zoe berg'])
    assert.equal(await finds(text), false, text);
  const page = await look(ana, '/statements?q=zoe');
  assert.match(page.body, /Found/);
  assert.deepEqual(strictly(page.text).faults, []);
});

test('several open lines are ignored with one reason, or are together the money of one payment, and the next line follows', async () => {
  const halves = await paid(61, { amount: '30.00' });
  const rents = ['RENT1', 'RENT2'].map((bank, i) => ({
    amount: `90${i}.00`,
    bank,
    text: 'Rent',
    day: today(harness),
  }));
  const rest = { ...halves.entry, amount: '31.00', bank: 'HALF2' };
  const waits = {
    amount: '5.00',
    bank: 'WAITS',
    text: 'Not booked',
    status: 'PDNG' as const,
    day: today(harness),
  };
  await bank.take(camt([...rents, halves.entry, rest, waits], { number: '61' }));
  const send = async (banks: string[], fields: Record<string, string>) => {
    const { action, values } = formOf(await look(ana, '/statements'), 'Ignore the ticked lines');
    const others = Object.entries(values).filter(([name]) => !name.startsWith('lin_') && name !== 'act');
    const ids = await Promise.all(banks.map(lineIdOf));
    return ana.post(action, {
      ...Object.fromEntries([...others, ...ids.map((id) => [id, 'yes'])]),
      ...fields,
    });
  };
  assert.match((await send([], { act: 'ignore', reason: 'Rent' })).body, /Tick at least/);
  assert.match((await send(['RENT1'], { act: 'ignore', reason: '' })).body, /Say why this/);
  assert.equal(await stateOf('RENT1'), 'open');
  const ignored = await send(['RENT1', 'RENT2'], { act: 'ignore', reason: 'Rent of the house' });
  assert.match(ignored.body, /Ignored: 2 lines\./);
  assert.deepEqual([await stateOf('RENT1'), await stateOf('RENT2')], ['ignored', 'ignored']);
  assert.match((await send(['RENT1'], { act: 'ignore', reason: 'Again' })).body, /Skipped, .*: 1\./);
  assert.deepEqual((await send([halves.entry.bank!], { payment: 'nobody' })).faults, ['payment']);
  const together = await send([halves.entry.bank!, 'HALF2'], { act: 'together', payment: halves.id });
  assert.match(together.body, /Matched with .*: 2 lines\./);
  assert.match((await look(ana, `/payments/${halves.id}`)).body, /€61\.00 stands .*: exactly/);
  const pending = await look(ana, `/statements/lines/${await lineIdOf('WAITS')}`);
  assert.match(pending.body, /booked it yet/);
  assert.deepEqual(
    pending.forms.filter(({ button }) => button?.includes('gnore')),
    [],
  );
});

test('a rule ignores lines of a name and an account that are open and that come in, until it is ended', async () => {
  const of = (bank: string, more: Partial<Entry> = {}): Entry => ({
    ...{
      amount: '12.00',
      bank,
      name: 'PAYPAL EUROPE',
      iban: 'NL86INGB0002445588',
      text: 'Payout',
      day: today(harness),
    },
    ...more,
  });
  const first = [of('P1'), of('P2', { name: 'Paypal Europe' }), of('P3', { name: 'PayPal Asia' })];
  await bank.take(camt(first, { number: '65' }));
  const line = await look(ana, `/statements/lines/${await lineIdOf('P1')}`);
  await ana.send(line, { reason: 'Booked elsewhere', always: 'yes' }, 'Ignore the line');
  assert.deepEqual(
    [await stateOf('P1'), await stateOf('P2'), await stateOf('P3')],
    ['ignored', 'ignored', 'open'],
  );
  const { entry } = await paid(66);
  const second = [of('P4'), of('P5', { direction: 'DBIT' }), of('P6', { text: entry.text! })];
  await bank.take(camt(second, { number: '66' }));
  assert.deepEqual(
    [await stateOf('P4'), await stateOf('P5'), await stateOf('P6')],
    ['ignored', 'open', 'open'],
    'money out and money with the reference of a payment stay open',
  );
  const rules = await look(ana, '/statements/rules');
  assert.match(rules.body, /PAYPAL EUROPE[\s\S]*Booked elsewhere/);
  await ana.send(rules, {}, 'End');
  assert.match((await look(ana, '/statements/rules')).body, /no rules\./);
  await bank.take(camt([of('P7')], { number: '67' }));
  assert.deepEqual([await stateOf('P7'), await stateOf('P4')], ['open', 'ignored']);
});

test('one transfer for two payments is matched with both on a page that lists them, and taken back', async () => {
  const [one, two] = [await paid(31), await paid(32, {}, { merchant_reference: 'ORDER-<32>' })];
  const entry = { ...one.entry, amount: '63.00', text: `${one.entry.text} ${two.entry.text}` };
  await bank.take(camt([entry], { number: '21' }));
  const path = `/statements/lines/${await lineIdOf(entry.bank!)}`;
  const page = await look(ana, path);
  assert.match(page.body, /The transfer names 2 payments, which come to its amount\./);
  assert.match(page.body, /ORDER-<32>[\s\S]*€32\.00[\s\S]*Match with these 2 payments €63\.00/);
  await ana.send(page, {}, 'Match with these 2 payments');
  const split = await look(ana, path);
  assert.match(split.body, /several payments:[\s\S]*€31\.00 for this[\s\S]*€32\.00/);
  for (const { id } of [one, two]) assert.equal(await statusOf(id), 'requires_review');
  const story = (await look(ana, `/payments/${two.id}`)).body;
  assert.match(story, /€32\.00 arrived on/);
  assert.match(story, /matched a part .*€63\.00/);
  assert.match((await look(ana, '/statements?state=split')).body, /Matched in parts/);
  const part = (await look(ana, '/statements?state=matched')).text.match(
    /\/statements\/lines\/(lin_\w+)/,
  )![1];
  assert.match((await look(ana, `/statements/lines/${part}`)).body, /Part of\s*€63\.00/);
  await ana.send(await look(ana, path), {}, 'Take it back');
  assert.match((await look(ana, `/statements/lines/${part}`)).body, /taken its place\./);
  assert.match((await look(ana, path)).body, /Match with these 2 payments/);
});

test('a pasted list is shown as it is read before it is kept, and proposes payments as any line does', async () => {
  const { id, entry } = await paid(64.5);
  const send = async (fields: Record<string, string>) => {
    const { values } = (await ana.get('/statements/paste')).forms.find(({ values }) => 'list' in values)!;
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...values, account: `${ACCOUNT}_EUR`, ...fields }))
      body.append(name, value);
    const page = await sendForm(ana, body, ana.cookies, 'paste');
    assert.deepEqual(strictly(page.markup).faults, []);
    return { ...page, seen: /name="seen" value="(\w+)"/.exec(page.markup)?.[1] ?? '' };
  };
  assert.deepEqual((await send({ list: ' ' })).faults, ['list']);
  assert.deepEqual((await send({ list: 'a\n'.repeat(501) })).faults, ['list']);
  assert.deepEqual((await send({ list: 'x', account: 'another' })).faults, ['account']);

  const list = `Zoë Berg\t${entry.text}\t64,50\n<b>Ben</b> 12.00\nNobody`;
  const shown = await send({ list, act: 'keep', seen: 'guessed' });
  assert.match(shown.text, /1 of 3 rows .*Row 3, Nobody : .*no amount/);
  assert.match(shown.text, /€64\.50 .*New .*&lt;b&gt;Ben&lt;\/b&gt; .*Keep 2 lines/);
  // Another list than the one that was shown is shown first.
  assert.match((await send({ list: 'Ben 13.00', act: 'keep', seen: shown.seen })).text, /Keep 1 line/);
  const keep = { list, act: 'keep', seen: shown.seen };
  assert.match((await send(keep)).text, /2 new lines\./);
  assert.match((await send({ list })).text, /(Known already .*){2}Keep the list/);
  assert.match((await send(keep)).text, /(imported|2 lines known) before\./);
  const again = { ...keep, again: '1764000000000' };
  assert.match((await send(again)).text, /2 new lines\./);
  assert.match((await send(again)).text, /imported before\./);

  const open = await look(ana, '/statements');
  assert.match(open.body, /Ben<\/b>[^€]*pasted by Ana/);
  const [line, second] = (await bank.lines({ state: 'open' })).filter(
    ({ amount_minor }) => amount_minor === 6450,
  );
  const rival = await look(ana, `/statements/lines/${second!.id}`);
  assert.match(rival.body, /Another line carries/);
  assert.match(rival.body, /File ?pasted by/);
  await ana.send(rival, { reason: 'Pasted twice' }, 'Ignore the line');
  await ana.send(await look(ana, `/statements/lines/${line!.id}`), {}, 'Approve the payment');
  assert.equal(await statusOf(id), 'approved');
  const found = await look(ana, '/audit?action=statement.imported');
  assert.match(found.body, /Ana Admin[\s\S]*pasted/);
});

test('a stranger’s files are not read, and a form without our token changes nothing', async () => {
  const body = new FormData();
  body.append('files', new Blob([camt([{ amount: '1.00', bank: 'STRANGE' }]) as never]), 'x.xml');
  assert.equal((await sendForm(ana, body, new Map())).status, 401);
  assert.equal((await sendForm(ana, body)).status, 403);
  assert.deepEqual(await bank.linesOf('STRANGE'), []);
});

test('a stranger is answered before the files are sent', async () => {
  const { origin, pathname } = new URL(`${harness.service.baseUrl}/console/statements/import`);
  const headers = {
    ...FROM_OUR_PAGE,
    'content-type': 'multipart/form-data; boundary=x',
    'content-length': '60000000',
  };
  const client = request(`${origin}${pathname}`, { method: 'POST', headers });
  client.on('error', () => {}); // the server may close the connection
  client.flushHeaders();
  const [{ statusCode }] = await once(client, 'response');
  assert.equal(statusCode, 401);
  client.destroy();
});

test('lines are downloaded with what became of them, and the download is told in the history', async () => {
  const page = await look(ana, '/statements/export');
  assert.match(page.text, /separated by<[\s\S]*selected>Semicolons<[\s\S]*<option value="">For a /);
  const separated = page.text.slice(page.text.indexOf('separated by<'));
  assert.doesNotMatch(separated.slice(0, separated.indexOf('</select>')), />Any</);
  const csv = (await ana.get('/statements/lines.csv?separator=semicolon&from=2026-11-20')).text;
  const [head, ...rows] = csv.trim().split('\r\n');
  assert.match(head!, /^id;account;file;day;value_day;amount;currency;booked;/);
  const approved = rows.find((row) => row.includes(';71,00;'))!;
  assert.match(approved, /;matched;;pay_\w+;;71,00;approved;Ana Admin;20/);
  assert.match(rows.find((row) => row.includes('<b>Rent</b>'))!, /;5,00;EUR;yes;no;.*;open;/);
  const json = (await ana.get('/statements/lines.ndjson')).text.trim().split('\n');
  assert.equal(json.length, rows.length);
  assert.equal((await ana.get('/statements/lines.csv?account=nobody')).text.trim().split('\r\n').length, 1);
  assert.equal((await ana.get('/statements/lines.csv?from=yesterday')).status, 422);
  assert.equal((await ana.get('/statements/lines.csv?separator=dash')).status, 422);
  const entries = await harness.service.database.query(
    "select facts from audit_entries where action = 'statement_lines.exported' order by number",
  );
  assert.equal(entries.length, 3);
  assert.deepEqual(JSON.parse(entries[0]!.facts as string), { format: 'csv', from: '2026-11-20', to: null });
});

test('the report of an account says balances, days and lines, on a page and as a file', async () => {
  const page = await look(ana, '/statements/report?from=2026-11-01');
  assert.match(page.body, /DE75 5121 0800 1245 1261 99 EUR, 1 Nov 2026 –/);
  assert.match(page.body, /named no balance/);
  assert.match(page.body, /71\.00.*approved by [^,]*Admin, \d+ \w+ 20\d\d/);
  assert.match(page.body, /Created by Ana/);
  const asked = `account=${ACCOUNT}%20EUR&from=2026-11-01&to=2099-01-01`;
  const [head, opening, ...rest] = (await ana.get(`/statements/report.csv?${asked}`)).text
    .trim()
    .split('\r\n');
  assert.match(head!, /^row,id,account,file,day,.*,decided_at,.*balance$/);
  assert.match(opening!, /^opening,,/);
  assert.deepEqual(
    rest.slice(-2).map((row) => row.split(',')[0]),
    ['closing', 'bank'],
  );
  assert.match(rest.find((row) => row.includes(',71.00,'))!, /^line,lin_.*,approved,Ana Admin,20/);
  const json = (await ana.get(`/statements/report.ndjson?${asked}`)).text.trim().split('\n');
  assert.deepEqual(Object.keys(JSON.parse(json[0]!)), head!.split(','));
  assert.equal((await ana.get('/statements/report?from=2026-11-02&to=2026-11-01')).status, 422);
  assert.equal(
    (await ana.get('/statements/report.csv?account=nobody&from=2026-11-01&to=2026-11-02')).status,
    422,
  );
});

/** The fields of a page as a browser sends them with its second form: hidden ones, typed ones and what is selected. */
function fieldsOf(markup: string): Record<string, string> {
  const fields: Record<string, string> = {};
  const { elements } = strictly(markup.slice(markup.indexOf('enctype="multipart')));
  let select = '';
  for (const { tagName, attrs } of elements) {
    const {
      name,
      value = '',
      selected,
      type,
    } = Object.fromEntries(attrs.map((one) => [one.name, one.value]));
    if (tagName === 'select') {
      select = name!;
      fields[select] = '';
    }
    if (tagName === 'option' && selected !== undefined) fields[select] = value;
    if (tagName === 'input' && type !== 'checkbox' && type !== 'file') fields[name!] = value;
  }
  return fields;
}

test('CSV is looked at once: what it does not tell is asked, and the answers are remembered for the account', async () => {
  const csv = (day: string, amount: string) =>
    Buffer.from(`Day,What for,Amount (EUR)\n${day}/11/2026,"Order, <b>9</b>","${amount}"\n`);
  const first = await upload(ana, { 'november.csv': csv('03', '1,200') });
  assert.equal(first.status, 422);
  assert.deepEqual(strictly(first.markup).faults, []);
  for (const question of [
    /03\/11\/2026 can be read in two ways/,
    /"1,200&quot;|1,200" can be read in two ways/,
  ])
    assert.match(first.text.replaceAll('&quot;', '"'), question);
  assert.match(first.text, /Order, &lt;b&gt;9&lt;\/b&gt;/);
  const send = async (markup: string, answers: Record<string, string>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...fieldsOf(markup), ...answers })) body.append(name, value);
    return sendForm(ana, body);
  };
  const answers = { 'csv-0-dates': 'dmy', 'csv-0-decimal': 'point', 'csv-0-sign': 'signed' };
  const columns = { 'csv-0-column-Day': 'day' };
  const look = await send(first.markup, { ...answers, ...columns, act: 'look' });
  assert.equal(look.status, 422, 'the account is asked');
  assert.deepEqual(look.faults, ['csv-0-account']);
  assert.match(look.text, /1 line: money in €1,200\.00.*3 Nov 2026 .*€1,200\.00/);
  const account = { 'csv-0-account': ACCOUNT };
  const seen = await send(look.markup, { ...account, act: 'look' });
  assert.equal(seen.status, 200);
  const done = await send(seen.markup, {});
  assert.match(done.text, /november\.csv DE75 5121 0800 1245 1261 99 : 1 new line\./);
  const again = await upload(ana, { 'november.csv': csv('04', '2,300') });
  assert.match(
    again.text,
    /Account Choose Development/,
    'a file that names no account is always asked for it',
  );
  assert.match(again.text, /€2,300\.00/);
  assert.match((await send(again.markup, account)).text, /1 new line\./);
});

test('CSV of a known bank that names its account is confirmed once and then imported', async () => {
  const csv = (day: number) =>
    Buffer.from(
      `"Girokonto";"${ACCOUNT}"\n"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Verwendungszweck";"Umsatztyp";"IBAN";"Betrag (€)"\n"${day}.11.26";"${day}.11.26";"Gebucht";"Zoë";"Shop";"DKB ${day}";"Eingang";"";"1.000"\n`,
    );
  const first = await upload(ana, { 'dkb.csv': csv(20) });
  assert.equal(first.status, 200);
  assert.match(first.text, /export of DKB : .* line 2.*€1,000\.00/);
  const body = new FormData();
  for (const [name, value] of Object.entries(fieldsOf(first.markup))) body.append(name, value);
  assert.match((await sendForm(ana, body)).text, /dkb\.csv DE75 5121 0800 1245 1261 99 : 1 new line\./);
  assert.match(
    (await upload(ana, { 'dkb.csv': csv(21) })).text,
    /dkb\.csv DE75 5121 0800 1245 1261 99 : 1 new line\./,
  );
});
